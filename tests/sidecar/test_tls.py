"""Frames over TLS, known by an authority of one's own, and by nothing else."""

import ssl

import pytest

from fairclock.cli.pipeline.endpoint import check_certificate
from fairclock.errors import ConfigurationError
from tests.sidecar.certificates import make_authority, make_certificate
from tests.sidecar.running import ANSWERING, Running, eventually, fairclock, stored

pytestmark = pytest.mark.integration

LINE = '{"time":"1790856000.000","request_time":"0.100","status":"200","request_id":"r1"}\n'


def test_a_sidecar_delivers_to_who_its_authority_vouches_for_and_to_nobody_else(tmp_path):
    authority, other = make_authority(tmp_path), make_authority(tmp_path, "other")
    certificate, key = make_certificate(tmp_path)
    (tmp_path / "access.log").write_text(LINE)
    dsn = f"chdb://{tmp_path}/store"
    listening = ("--listen", "127.0.0.1:0", "--tls-certificate", certificate, "--tls-key", key)
    with Running(
        "up", *listening, "--grpc", "off", "--http", "off", folder=tmp_path, FAIRCLOCK_DSN=dsn
    ) as up:
        url = up.says(ANSWERING)[1]
        assert url.startswith("https://127.0.0.1:")
        token = fairclock("tokens", "create", "--scope", "collector", "--name", "gw", FAIRCLOCK_DSN=dsn)

        def sidecar(*words):
            return Running(
                "collect", "gateway", "--file", "access.log", "--to", url, *words,
                folder=tmp_path, FAIRCLOCK_TOKEN=token, FAIRCLOCK_SPOOL=str(tmp_path / "sidecar"),
            )  # fmt: skip

        for words in ((), ("--ca", other)):
            with sidecar(*words) as doubting:
                doubting.says(r"not delivered: .*certificate verify failed")
        verify = {"verify": ssl.create_default_context(cafile=authority)}
        assert stored(url, "gateway", **verify) == 0
        with sidecar("--ca", authority) as trusting:
            eventually(lambda: stored(url, "gateway", **verify) == 1, what=lambda: trusting.said + up.said)
            assert trusting.stop() == 0
        assert token not in up.said + trusting.said


def test_a_certificate_is_checked_before_anything_runs(tmp_path):
    make_authority(tmp_path)
    certificate, key = make_certificate(tmp_path)
    check_certificate(certificate, key)
    with pytest.raises(ConfigurationError, match=r"is no certificate that fits .*ca.key"):
        check_certificate(certificate, tmp_path / "ca.key")
    with pytest.raises(ConfigurationError, match=r"none.pem: cannot be read \(No such file or directory\)"):
        check_certificate(tmp_path / "none.pem", key)
    (tmp_path / "empty.pem").touch()
    with pytest.raises(ConfigurationError, match="is no certificate that fits"):
        check_certificate(tmp_path / "empty.pem", key)
