"""Work on a folder as one of a server's accounts: ``python -m tests.access.as_account FOLDER ACCOUNT``; said in JSON.

The engine inside this process knows users by a file alone, and every session is that of the user ``default``. So the file
that Fairclock writes is given to it with the account to be tried under that name; everything else in it stays.
Standard input: {"users": the file, "migrate": bool, "statements": [...]}. Output: [{"rows": ...} or {"code": ...}, ...].
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

USERS = "users.xml"


def as_default(text, account):
    """Return the file in which `account` is called default and nobody has a password."""
    text = re.sub(r"<password_sha256_hex[^>]*?(?:/>|>0+</password_sha256_hex>)", "<no_password/>", text)
    users = text.partition("<users>")[2]
    mine = users[users.index(f"<{account}>") : users.index(f"</{account}>") + len(account) + 3]
    renamed = re.sub(rf"(</?){account}>", r"\1default>", mine)
    # its profile keeps its name
    renamed = re.sub(r"<profile>.*?</profile>", f"<profile>{account}</profile>", renamed)
    text = text.replace(mine, renamed)
    text = text.replace("<profiles>", "<profiles><default/>")
    return text.replace("</clickhouse>", "<quotas><default/></quotas></clickhouse>")


def answer(run, statement):
    try:
        return {"rows": run(statement)}
    except Exception as error:  # noqa: BLE001 - whatever the engine says is the answer
        code = re.search(r"[Cc]ode:? (\d+)", str(error))
        return {"code": int(code[1]) if code else None, "said": str(error)[:300]}


def main(folder, account):
    asked = json.load(sys.stdin)
    place = Path(folder)
    (place / USERS).write_text(as_default(asked["users"], account))
    config = place / "config.xml"
    config.write_text(f"<clickhouse><users_config>{place / USERS}</users_config></clickhouse>")
    from fairclock.store import Query, connection, open_store
    from fairclock.store.access.reading import shown_by

    if asked.get("opens"):
        connection._ENGINE_OPTIONS += f"&config-file={config}"
        with open_store(f"chdb://{place / 'store'}") as store:
            answers = [answer(lambda sql: store.rows(Query(sql=sql)), each) for each in asked["statements"]]
            answers += [answer(lambda lines: feed(store, lines), each) for each in asked.get("feeds", ())]
            shown = shown_by(store)
        views = {"views": dict(shown.views), "contracts": dict(shown.contracts)}
    else:
        import chdb

        engine = chdb.connect(f"{place / 'store' / 'data'}?config-file={config}")
        answers = [answer(lambda sql: rows(engine, sql), each) for each in asked["statements"]]
        views = None
    json.dump({"answers": answers, "shown": views}, sys.stdout, default=str)


def feed(store, lines):
    from fairclock.store import LineBatch
    from sla.slices import InForce, evaluate_slices
    from tests.evaluation.factories import a_contract

    counts = store.ingest(LineBatch(kind="gateway", source="test", lines=[each.encode() for each in lines]))
    contract = InForce(contract=a_contract())
    live = evaluate_slices(store, [contract]).written
    sealed = store.seal()
    return [counts.stored, sealed, live > 0, evaluate_slices(store, [contract]).written >= 0]


def rows(engine, sql):
    text = engine.query(sql, "JSONCompactEachRow").bytes() or b""
    return [json.loads(line) for line in text.decode().splitlines()]


if __name__ == "__main__":
    main(*sys.argv[1:])
