"""In front of moto: writes down every call, adds latency, injects faults. Knows nothing of AWS's rules."""

import io
import socket
import struct
import threading
import time
import traceback
import xml.etree.ElementTree as xml

from . import errors, objects
from .call import Call
from .faults import Faults

HANG_SECONDS = 60
# Their order means something: newest first.
ORDERED = ("DescribeInstanceRefreshes", "DescribeScalingActivities")


def now_ms():
    return time.monotonic() * 1000


class Recorder:
    """A WSGI application around moto's. Calls run one at a time inside moto, but wait outside of it."""

    def __init__(self, moto, control):
        self.moto = moto
        self.control = control
        self.world = threading.RLock()
        self.faults = Faults()
        self.latency = {}
        self.reversed = set()
        self._lock = threading.Lock()
        self._log = []
        self._remembered = {}

    def calls(self, access_key):
        with self._lock:
            return [dict(entry) for entry in self._log if entry["access_key"] == access_key]

    def clear(self, access_key):
        with self._lock:
            self._log = [entry for entry in self._log if entry["access_key"] != access_key]

    def __call__(self, environ, start_response):
        if environ.get("PATH_INFO", "").startswith("/_double/"):
            return self.control(self, environ, start_response)
        call = Call(environ)
        entry = self._begin(call)
        rule = self.faults.take(call)
        half = self.latency.get(call.access_key, 0) / 2000
        time.sleep(half)
        status, headers, body = self._answer(call, environ, rule, entry)
        time.sleep(half)
        entry["status"], entry["finished"] = status, now_ms()
        headers = [(name, value) for name, value in headers if name.lower() not in ("content-length", "connection")]
        # A HEAD answers with the length of what it does not send.
        if call.method != "HEAD":
            headers.append(("Content-Length", str(len(body))))
        start_response(f"{status} {'OK' if status < 400 else 'Refused'}", headers)
        return [body]

    def _begin(self, call):
        entry = {
            "access_key": call.access_key,
            "service": call.service,
            "operation": call.operation,
            "parameters": call.parameters,
            "started": now_ms(),
            "finished": None,
            "status": None,
            "fault": None,
        }
        with self._lock:
            self._log.append(entry)
        return entry

    def _answer(self, call, environ, rule, entry):
        kind = rule["kind"] if rule else None
        entry["fault"] = kind
        question = (call.access_key, call.operation, call.body, environ.get("PATH_INFO"), environ.get("QUERY_STRING"))
        if kind == "stale":
            with self._lock:
                if question in self._remembered:
                    return self._remembered[question]
        elif kind in ("denied", "throttle", "server", "unavailable"):
            makers = {"denied": errors.denied, "throttle": errors.throttled, "server": errors.broken}
            return errors.answer(call, *makers.get(kind, errors.unavailable)(call))
        elif kind == "error":
            return errors.answer(call, rule.get("status", 400), rule["code"], rule.get("message", rule["code"]))
        elif kind == "slow":
            time.sleep(rule.get("millis", 1000) / 1000)
        elif kind == "hang-before":
            time.sleep(HANG_SECONDS)
            cut(environ, entry)
        elif kind == "cut-before":
            cut(environ, entry)
        answer = self._ask_moto(call, environ)
        if kind == "hang-after":
            time.sleep(HANG_SECONDS)
        if kind in ("cut-after", "hang-after"):
            cut(environ, entry)
        if call.is_read:
            with self._lock:
                self._remembered[question] = answer
        return answer

    def _ask_moto(self, call, environ):
        """Moto's answer as (status, headers, body). A defect of the double is an answer that nobody retries."""
        environ = dict(environ, HTTP_X_MOTO_ACCOUNT_ID=call.account, CONTENT_LENGTH=str(len(call.body)))
        environ.pop("HTTP_TRANSFER_ENCODING", None)
        environ["wsgi.input"] = io.BytesIO(call.body)
        refusal = objects.before(call, environ)
        if refusal:
            return errors.answer(call, *refusal)
        seen = {}

        def start_response(status, headers, exc_info=None):
            seen["status"], seen["headers"] = int(status.split()[0]), headers

        try:
            with self.world:
                body = b"".join(self.moto(environ, start_response))
        except Exception:
            traceback.print_exc()
            return errors.answer(call, 400, "DefectOfTheDouble", traceback.format_exc(limit=-3))
        if call.access_key in self.reversed and call.operation not in ORDERED:
            body = reverse_lists(body)
        return seen["status"], objects.after(call, seen["status"], seen["headers"]), body


def cut(environ, entry):
    """Resets the connection: the caller gets no answer at all."""
    entry["finished"] = now_ms()
    connection = environ["werkzeug.socket"]
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.shutdown(socket.SHUT_RDWR)
    raise ConnectionResetError("cut on purpose")


def reverse_lists(body):
    """Every list of an XML answer back to front: AWS promises no order."""
    try:
        root = xml.fromstring(body)
    except xml.ParseError:
        return body
    if root.tag.startswith("{"):
        xml.register_namespace("", root.tag[1:].partition("}")[0])
    for element in root.iter():
        if len({child.tag for child in element}) == 1 and len(element) > 1:
            element[:] = list(element)[::-1]
    return xml.tostring(root)
