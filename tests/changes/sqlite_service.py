"""A service that keeps tokens in SQLite, on a loopback socket, in a process of its own.

    python sqlite_service.py DATABASE SECONDS

It answers RunInstances, DescribeInstances and TerminateInstances of one caller. The token and the
instance are written in one transaction. Each request is answered by a process, which ends itself
by SIGKILL at the stage that the header `X-Kill` names. SECONDS: how long a token outlives its
instance.

It answers StartBuild, too, whose tokens live `LIFETIME` seconds from their first request. The time
is what the header `X-Now` says.
"""

import json
import os
import signal
import socket
import sqlite3
import sys
import time
from urllib.parse import parse_qs

NAMESPACE = "http://ec2.amazonaws.com/doc/2016-11-15/"
LIFETIME = 300
"""Seconds; CodeBuild's documentation says five minutes."""

STAGES = ("before", "token", "instance", "committed")
"""When a process may be killed: before the transaction, twice within it, after it."""

TABLES = """
create table if not exists tokens (token text primary key, request text, instance text);
create table if not exists instances (name text primary key, token text, gone real);
create table if not exists builds (name text primary key, token text, started real);
"""


def read_message(connection):
    """Return an HTTP message; less where the other side stopped sending."""
    data = b""
    while chunk := connection.recv(65536):
        data += chunk
        head, end, body = data.partition(b"\r\n\r\n")
        if end and len(body) >= int(header(head, "content-length") or 0):
            break
    return data


def header(head, name):
    """Return a header of a message; None without it."""
    for line in head.decode("latin-1").split("\r\n")[1:]:
        key, _, value = line.partition(":")
        if key.lower() == name:
            return value.strip()
    return None


def answer(database, request, keep_tokens_for, reach):
    """Return status and body; `reach(stage)` is called on the way."""
    action = request.pop("Action")
    request.pop("Version")
    if action == "TerminateInstances":
        values = (time.time(), request["InstanceId.1"])
        database.execute("update instances set gone = ? where name = ?", values)
        return 200, xml(action, "instancesSet", "")
    if action == "DescribeInstances":
        state = "select gone from instances where name = ?"
        [gone] = database.execute(state, [request["InstanceId.1"]]).fetchone()
        found = item(request["InstanceId.1"], gone)
        return 200, xml(
            action, "reservationSet", f"<item><instancesSet>{found}</instancesSet></item>"
        )
    reach("before")
    token = request.pop("ClientToken")
    text = repr(sorted(request.items()))
    database.execute("begin immediate")
    known = "select request, instance, gone from tokens join instances on name = instance"
    row = database.execute(f"{known} where tokens.token = ?", [token]).fetchone()
    if row is not None and (row[2] is None or time.time() - row[2] <= keep_tokens_for):
        database.execute("rollback")
        if row[0] != text:
            return 400, error("IdempotentParameterMismatch")
        return 200, xml(action, "instancesSet", item(*row[1:]))
    name = f"i-{database.execute('select count(*) from instances').fetchone()[0] + 1}"
    database.execute("insert or replace into tokens values (?, ?, ?)", (token, text, name))
    reach("token")
    database.execute("insert into instances values (?, ?, null)", (name, token))
    reach("instance")
    database.execute("commit")
    reach("committed")
    return 200, xml(action, "instancesSet", item(name, None))


def build(database, request, now, reach):
    """Start a build, or return the one that its token has started; `reach` as in `answer`."""
    reach("before")
    token = request["idempotencyToken"]
    database.execute("begin immediate")
    known = "select name from builds where token = ? and started >= ?"
    row = database.execute(known, [token, now - LIFETIME]).fetchone()
    reach("token")
    if row is None:
        row = [f"b:{database.execute('select count(*) from builds').fetchone()[0] + 1}"]
        database.execute("insert into builds values (?, ?, ?)", (row[0], token, now))
    reach("instance")
    database.execute("commit")
    reach("committed")
    return 200, json.dumps({"build": {"id": row[0]}})


def item(name, gone):
    state = "pending" if gone is None else "terminated"
    states = f"<instanceState><name>{state}</name></instanceState>"
    return f"<item><instanceId>{name}</instanceId>{states}</item>"


def xml(action, member, items):
    name = f"{action}Response"
    return f'<{name} xmlns="{NAMESPACE}"><{member}>{items}</{member}></{name}>'


def error(code):
    text = f"<Error><Code>{code}</Code><Message>no</Message></Error>"
    return f"<Response><Errors>{text}</Errors><RequestID>r</RequestID></Response>"


def respond(connection, path, keep_tokens_for):
    """Answer the request of a connection, if all of it arrives."""
    head, end, body = read_message(connection).partition(b"\r\n\r\n")
    if not end or len(body) < int(header(head, "content-length") or 0):
        return
    killed_at = header(head, "x-kill")

    def reach(stage):
        if stage == killed_at:
            os.kill(os.getpid(), signal.SIGKILL)

    database = sqlite3.connect(path, isolation_level=None)
    if body.startswith(b"{"):
        status, text = build(database, json.loads(body), float(header(head, "x-now")), reach)
    else:
        request = {name: value for name, [value] in parse_qs(body.decode()).items()}
        status, text = answer(database, request, keep_tokens_for, reach)
    head = f"HTTP/1.1 {status} OK\r\nConnection: close\r\nContent-Length: {len(text)}\r\n\r\n"
    connection.sendall((head + text).encode())


def main():
    path, keep_tokens_for = sys.argv[1], float(sys.argv[2])
    with sqlite3.connect(path) as database:
        database.executescript(TABLES)
    database.close()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        sys.stdout.write(f"{listener.getsockname()[1]}\n")
        sys.stdout.flush()
        while True:
            connection, _ = listener.accept()
            child = os.fork()
            if not child:
                respond(connection, path, keep_tokens_for)
                os._exit(0)
            connection.close()
            os.waitpid(child, 0)


if __name__ == "__main__":
    main()
