"""A real mail server on this machine: it keeps what it is handed, and answers what it is told to."""

from __future__ import annotations

import base64
import socketserver
import threading
from dataclasses import dataclass, field
from email import message_from_bytes
from email.policy import SMTP
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ssl


@dataclass
class Received:
    """One mail: who handed it over, for whom, and its bytes."""

    sender: str
    to: list[str]
    user: str | None
    is_secret: bool
    content: bytes = b""

    @property
    def message(self):
        return message_from_bytes(self.content, policy=SMTP)


@dataclass
class MailServer:
    """`refusals` are answered to the end of DATA one by one, then mail is taken; `unknown` addresses are refused."""

    context: ssl.SSLContext | None = None
    refusals: list[str] = field(default_factory=list)
    unknown: tuple[str, ...] = ()
    received: list[Received] = field(default_factory=list)

    def __enter__(self):
        outer = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                _talk(self, outer)

        class Server(socketserver.ThreadingTCPServer):
            allow_reuse_address = True
            daemon_threads = True

            def handle_error(self, request, client_address):
                """Say nothing of clients that hang up."""

        self._server = Server(("127.0.0.1", 0), Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def port(self) -> int:
        return self._server.server_address[1]


def _talk(handler, server: MailServer) -> None:
    connection, file = handler.connection, handler.connection.makefile("rb")
    is_secret, user, mail = False, None, None

    def say(line: str) -> None:
        connection.sendall(f"{line}\r\n".encode())

    say("220 mail.example ready")
    while line := file.readline():
        verb, _, rest = line.decode().strip().partition(" ")
        match verb.upper():
            case "EHLO" | "HELO":
                more = ["250-STARTTLS"] if server.context and not is_secret else []
                for each in ["250-mail.example", *more, "250 AUTH PLAIN"]:
                    say(each)
            case "STARTTLS":
                say("220 go on")
                connection = server.context.wrap_socket(connection, server_side=True)
                file, is_secret = connection.makefile("rb"), True
            case "AUTH":
                _, name, password = base64.b64decode(rest.split()[1]).decode().split("\0")
                user = name
                say("235 welcome" if password == "right" else "535 wrong password")
            case "MAIL":
                mail = Received(sender=rest, to=[], user=user, is_secret=is_secret)
                say("250 fine")
            case "RCPT":
                address = rest.partition("<")[2].rstrip(">")
                if address in server.unknown:
                    say("550 nobody of that name")
                else:
                    mail.to.append(address)
                    say("250 fine")
            case "DATA":
                say("354 go on")
                lines = []
                while (each := file.readline()) not in {b".\r\n", b""}:
                    lines.append(each[1:] if each.startswith(b"..") else each)
                if server.refusals:
                    say(server.refusals.pop(0))
                else:
                    mail.content = b"".join(lines)
                    server.received.append(mail)
                    say("250 taken")
            case "QUIT":
                say("221 bye")
                return
            case _:
                say("250 fine")
