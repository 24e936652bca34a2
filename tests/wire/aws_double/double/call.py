"""One AWS call as it came over the wire."""

import re
import zlib
from urllib.parse import parse_qs, unquote

CREDENTIAL = re.compile(r"Credential=([^/,\s]+)/\d+/([^/]+)/([^/]+)/aws4_request")

# What of an S3 request's headers is worth keeping in the log.
S3_HEADERS = (
    "content-type",
    "content-length",
    "x-amz-checksum-mode",
    "x-amz-checksum-sha256",
    "x-amz-sdk-checksum-algorithm",
    "x-amz-server-side-encryption",
    "x-amz-tagging",
)


def account_of(access_key):
    """Callers whose access key ids begin with the same 18 characters share one account of their own."""
    return f"{zlib.crc32(access_key[:18].encode()) % 10**9 + 10**11:012d}"


class Call:
    """Who asked for what, and where it goes."""

    def __init__(self, environ):
        authorization = environ.get("HTTP_AUTHORIZATION", "")
        found = CREDENTIAL.search(authorization)
        self.access_key, self.region, self.service = found.groups() if found else ("", "us-east-1", "s3")
        self.account = account_of(self.access_key)
        self.method = environ["REQUEST_METHOD"]
        self.body = read_body(environ)
        self.headers = {
            name[5:].replace("_", "-").lower(): value for name, value in environ.items() if name.startswith("HTTP_")
        }
        self.headers["content-type"] = environ.get("CONTENT_TYPE", "")
        self.headers["content-length"] = str(len(self.body))
        if self.service == "s3":
            self._read_rest(environ)
        else:
            self._read_query()

    @property
    def is_read(self):
        return self.operation.startswith(("Describe", "Get", "Head", "List"))

    def parameter(self, name):
        return self.parameters.get(name)

    def _read_query(self):
        form = parse_qs(self.body.decode("utf-8", "replace"), keep_blank_values=True)
        # The services that speak JSON name the operation in a header.
        target = self.headers.get("x-amz-target", "").rpartition(".")[2]
        self.operation = form.get("Action", [target or "Unknown"])[0]
        # User data holds labels and bucket names, no secrets; but it is a body, and long.
        self.parameters = {
            name: values[0]
            for name, values in sorted(form.items())
            if name not in ("Action", "Version") and not name.endswith("UserData")
        }

    def _read_rest(self, environ):
        bucket, _, key = unquote(environ.get("PATH_INFO", "/")).lstrip("/").partition("/")
        query = parse_qs(environ.get("QUERY_STRING", ""), keep_blank_values=True)
        noun = "Object" if key else "Bucket"
        if "tagging" in query:
            noun += "Tagging"
        verb = {"GET": "Get", "PUT": "Put", "HEAD": "Head", "DELETE": "Delete"}.get(self.method, self.method.title())
        if noun == "Bucket":
            verb = {"Put": "Create", "Get": "List"}.get(verb, verb)
        self.operation = verb + noun
        self.parameters = {"Bucket": bucket, "Key": key}
        self.parameters.update({name: self.headers[name] for name in S3_HEADERS if self.headers.get(name)})


def read_body(environ):
    """The whole body, so that nobody waits for a slow sender while holding a lock."""
    stream = environ["wsgi.input"]
    if environ.get("wsgi.input_terminated"):
        return stream.read()
    return stream.read(int(environ.get("CONTENT_LENGTH") or 0))
