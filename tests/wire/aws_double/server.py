"""An AWS on loopback for tests: `python server.py`.

Prints `{"port": N, "pid": M}` when it is ready. Ends when its standard input does, so that it never
outlives the program that started it, and in any case after a quarter of an hour.
"""

import json
import os
import sys
import threading
from pathlib import Path

LIFETIME_SECONDS = 15 * 60

# Moto reads these when it is imported.
os.environ["MOTO_AMIS_PATH"] = str(Path(__file__).with_name("images.json"))
os.environ["MOTO_EC2_LOAD_DEFAULT_AMIS"] = "false"
os.environ["S3_IGNORE_SUBDOMAIN_BUCKETNAME"] = "true"
# Moto asks boto3 for the list of regions; nothing of the caller's may get in.
os.environ.update({"AWS_ACCESS_KEY_ID": "none", "AWS_SECRET_ACCESS_KEY": "none", "AWS_DEFAULT_REGION": "us-east-1"})
os.environ.pop("AWS_PROFILE", None)

from moto.moto_server.werkzeug_app import (  # noqa: E402
    DomainDispatcherApplication,
    MotoRequestHandler,
    create_backend_app,
)
from werkzeug.serving import make_server  # noqa: E402

from double.control import control  # noqa: E402
from double.operations import install  # noqa: E402
from double.recorder import Recorder  # noqa: E402


class QuietHandler(MotoRequestHandler):
    """One line per request would drown what matters."""

    def log(self, type, message, *args):
        pass


def end_with_parent():
    sys.stdin.buffer.read()
    os._exit(0)


def main():
    install()
    recorder = Recorder(DomainDispatcherApplication(create_backend_app), control)
    server = make_server("127.0.0.1", 0, recorder, threaded=True, request_handler=QuietHandler)
    threading.Thread(target=end_with_parent, daemon=True).start()
    lifetime = threading.Timer(LIFETIME_SECONDS, os._exit, [3])
    lifetime.daemon = True
    lifetime.start()
    print(json.dumps({"port": server.port, "pid": os.getpid()}), flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
