"""Errors as each service writes them, and the ones that the strict models raise."""

import json
from uuid import uuid4
from xml.sax.saxutils import escape

from moto.autoscaling.exceptions import AutoscalingClientError
from moto.ec2.exceptions import EC2ClientError


def validation(message):
    return AutoscalingClientError("ValidationError", message)


def autoscaling(code, message):
    return AutoscalingClientError(code, message)


def ec2(code, message):
    return EC2ClientError(code, message)


def group_not_found(name):
    return validation(f"AutoScalingGroup name not found - AutoScalingGroup '{name}' not found")


def answer(call, status, code, message):
    """An error answer: status, headers, body. A HEAD has no body, so S3's code is lost there, as in AWS."""
    request_id = str(uuid4())
    if call.service == "servicequotas":
        headers = [("Content-Type", "application/x-amz-json-1.1"), ("x-amzn-RequestId", request_id)]
        return status, headers, json.dumps({"__type": code, "message": message}).encode()
    code, message = escape(code), escape(message)
    if call.service == "s3":
        body = f"<Error><Code>{code}</Code><Message>{message}</Message><RequestId>{request_id}</RequestId></Error>"
        if call.method == "HEAD":
            body = ""
    elif call.service == "ec2":
        body = (
            f"<Response><Errors><Error><Code>{code}</Code><Message>{message}</Message></Error></Errors>"
            f"<RequestID>{request_id}</RequestID></Response>"
        )
    else:
        fault = "Receiver" if status >= 500 else "Sender"
        body = (
            '<ErrorResponse xmlns="http://autoscaling.amazonaws.com/doc/2011-01-01/"><Error>'
            f"<Type>{fault}</Type><Code>{code}</Code><Message>{message}</Message></Error>"
            f"<RequestId>{request_id}</RequestId></ErrorResponse>"
        )
    headers = [("Content-Type", "text/xml"), ("x-amzn-RequestId", request_id), ("x-amz-request-id", request_id)]
    return status, headers, body.encode()


def denied(call):
    """What a missing permission looks like in each service."""
    subject = f"User: arn:aws:iam::{call.account}:user/test is not authorized to perform: "
    if call.service == "ec2":
        return (
            403,
            "UnauthorizedOperation",
            "You are not authorized to perform this operation. "
            + subject
            + (f"ec2:{call.operation} because no identity-based policy allows the ec2:{call.operation} action."),
        )
    if call.service == "s3":
        return 403, "AccessDenied", "Access Denied"
    return (
        403,
        "AccessDenied",
        subject
        + (
            f"autoscaling:{call.operation} because no identity-based policy allows the "
            f"autoscaling:{call.operation} action"
        ),
    )


def throttled(call):
    """Each service has its own word for "too fast"; Auto Scaling says it with HTTP 400."""
    return {
        "autoscaling": (400, "Throttling", "Rate exceeded"),
        "ec2": (503, "RequestLimitExceeded", "Request limit exceeded."),
    }.get(call.service, (503, "SlowDown", "Please reduce your request rate."))


def broken(call):
    return {
        "autoscaling": (500, "InternalFailure", "The request processing has failed because of an unknown error."),
        "ec2": (500, "InternalError", "An internal error has occurred."),
    }.get(call.service, (500, "InternalError", "We encountered an internal error. Please try again."))


def unavailable(call):
    return {
        "autoscaling": (503, "ServiceUnavailable", "The request has failed due to a temporary failure."),
        "ec2": (503, "Unavailable", "The server is overloaded and can't handle the request."),
    }.get(call.service, (503, "ServiceUnavailable", "Please reduce your request rate."))
