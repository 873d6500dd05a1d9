"""A certificate authority of the test's own, by openssl."""

import subprocess


def _openssl(*words, folder):
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def make_authority(folder, name="ca"):
    """Write NAME.pem and NAME.key."""
    _openssl(
        "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
        "-subj", f"/CN={name} of a test", "-keyout", f"{name}.key", "-out", f"{name}.pem", folder=folder,
    )  # fmt: skip
    return folder / f"{name}.pem"


def make_certificate(folder, *, authority="ca", address="127.0.0.1", name="up"):
    """Write NAME.pem and NAME.key, signed by `authority`, for `address`."""
    _openssl(
        "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}",
        "-keyout", f"{name}.key", "-out", f"{name}.csr", folder=folder,
    )  # fmt: skip
    (folder / f"{name}.ext").write_text(f"subjectAltName=IP:{address}\n")
    _openssl(
        "x509", "-req", "-in", f"{name}.csr", "-CA", f"{authority}.pem", "-CAkey", f"{authority}.key", "-days", "2",
        "-CAcreateserial", "-extfile", f"{name}.ext", "-out", f"{name}.pem", folder=folder,
    )  # fmt: skip
    return folder / f"{name}.pem", folder / f"{name}.key"
