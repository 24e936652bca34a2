"""The endpoints under `/_double/`: the log, faults, latency, and a hand that does what no SDK can.

All are POST with a JSON object that names the caller: `{"key": "<access key id>", ...}`.

- `calls` answers the caller's log; `clear` empties it
- `faults` (`rules`), `latency` (`millis`), `reverse` (`on`): see `faults.py` and `recorder.py`
- `settings` (`group`, then any of `groups.DEFAULTS`): how the caller's group of that name behaves
- `state` (`instance`, `state`): EC2's state of an instance
- `refresh` (`group`, `steps` or `status` and `reason`): moves the newest refresh on, or ends it
- `publish` (`like`, `image`, `name`, `created`): one more image like another one, newer
"""

import copy
import json
from datetime import datetime

from moto.autoscaling.models import autoscaling_backends

from . import members
from .call import account_of, read_body
from .groups import DEFAULTS


def control(recorder, environ, start_response):
    """One request to a control endpoint."""
    name = environ["PATH_INFO"].removeprefix("/_double/")
    asked = json.loads(read_body(environ) or b"{}")
    try:
        answer, status = ENDPOINTS[name](recorder, asked), "200 OK"
    except (KeyError, ValueError, IndexError) as error:
        answer, status = {"error": repr(error)}, "400 Bad Request"
    body = json.dumps(answer).encode()
    start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
    return [body]


def backend_of(asked):
    return autoscaling_backends[account_of(asked["key"])][asked.get("region", "us-east-1")]


def calls(recorder, asked):
    return recorder.calls(asked["key"])


def clear(recorder, asked):
    recorder.clear(asked["key"])
    return {}


def faults(recorder, asked):
    if "rules" in asked:
        recorder.faults.replace(asked["key"], asked["rules"])
    return recorder.faults.show(asked["key"])


def latency(recorder, asked):
    recorder.latency[asked["key"]] = asked["millis"]
    return {}


def reverse(recorder, asked):
    (recorder.reversed.add if asked["on"] else recorder.reversed.discard)(asked["key"])
    return {}


def settings(recorder, asked):
    wanted = {name: value for name, value in asked.items() if name not in ("key", "region", "group")}
    unknown = set(wanted) - set(DEFAULTS)
    if unknown:
        raise ValueError(f"no such setting: {sorted(unknown)}")
    with recorder.world:
        backend_of(asked).settings_of(asked["group"]).update(wanted)
    return {}


def state(recorder, asked):
    with recorder.world:
        members.set_machine_state(backend_of(asked).ec2_backend.get_instance(asked["instance"]), asked["state"])
    return {}


def refresh(recorder, asked):
    with recorder.world:
        newest = backend_of(asked).autoscaling_groups[asked["group"]].refreshes[0]
        for _ in range(asked.get("steps", 0)):
            newest.step()
        if "status" in asked:
            newest.end(asked["status"], asked.get("reason"))
        return {"id": newest.id, "status": newest.status}


def publish(recorder, asked):
    with recorder.world:
        amis = backend_of(asked).ec2_backend.amis
        image = copy.copy(amis[asked["like"]])
        image.id, image.name = asked["image"], asked["name"]
        image.creation_date = datetime.fromisoformat(asked["created"])
        amis[image.id] = image
    return {}


ENDPOINTS = {
    "calls": calls,
    "clear": clear,
    "faults": faults,
    "latency": latency,
    "reverse": reverse,
    "settings": settings,
    "state": state,
    "refresh": refresh,
    "publish": publish,
}
