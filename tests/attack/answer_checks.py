"""What is wrong with an answer, measured by what the service says of itself."""

import json
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import httpx
import jsonschema_rs

from ai_psychiatrist.api.page_policy import is_page
from tests.attack.request_making import MadeRequest, Operation, validator
from tests.attack.schema_values import WORD, Json

_PROBLEM: Final = "application/problem+json"
_NOT_OF_THE_SCHEMA: Final = frozenset({"invalid_request", "malformed_json", "duplicate_key"})
_OF_PAGES: Final = 200, 303, 404, 405, 422
"""Pages for people are not in the document."""
_MEMBERS: Final = ("type", "title", "status", "code", "detail")


@dataclass(frozen=True)
class AnswerChecks:
    """Compares answers with an OpenAPI document."""

    document: Json
    operations: tuple[Operation, ...]

    def findings(self, sent: MadeRequest, answer: httpx.Response) -> Iterator[str]:
        """Yield what is wrong, in words that name no input."""
        path = answer.request.url.path
        of_path = [one for one in self.operations if one.matches(path)]
        allowed = {one.method for one in of_path}
        if "GET" in allowed:
            allowed.add("HEAD")
        method = "GET" if sent.method == "HEAD" and "HEAD" in allowed else sent.method
        operation = next((one for one in of_path if one.method == method), None)
        if "x-request-id" not in answer.headers:
            yield "no X-Request-ID"
        if answer.status_code >= 500:
            yield f"status {answer.status_code} although nothing fails"
        if answer.status_code >= 400:
            yield from self._of_problem(answer)
        if not sent.is_for_this_host:
            yield from _unless(answer, 400, 421)
        elif "Origin" in sent.headers and self._code(answer) == "cross_site":
            return
        elif operation is not None:
            yield from self._of_operation(operation, sent, answer)
        elif not of_path:
            yield from _unless(answer, *(_OF_PAGES if is_page(path) else (404,)))
        else:
            yield from _unless(answer, 405)
            named = answer.headers.get("allow", "").split(", ")
            if sorted(named) != sorted(allowed):
                yield "Allow does not name the methods of the path"

    def _of_operation(
        self, operation: Operation, sent: MadeRequest, answer: httpx.Response
    ) -> Iterator[str]:
        status = str(answer.status_code)
        described = operation.responses.get(status)
        if described is None:
            yield f"status {status} is not documented"
            return
        content = described.get("content", {})
        media_type = answer.headers.get("content-type", "").partition(";")[0]
        if media_type not in (content or [""]):
            yield f"media type of {status} is not documented"
        elif media_type.endswith("json") and sent.method != "HEAD":
            body = answer.json()
            if not self._validator(content[media_type]["schema"]).is_valid(body):
                yield f"body of {status} is not as documented"
        if operation.body is None or sent.is_valid is None or sent.method == "HEAD":
            return
        if sent.is_valid and self._code(answer) in _NOT_OF_THE_SCHEMA:
            yield "a request as the schema says is refused for its form"
        if sent.is_usable and answer.status_code in (400, 422):
            yield "a request that the schema allows and that means something is refused"
        if not sent.is_valid and answer.is_success:
            yield "a request that the schema forbids is taken"

    def _of_problem(self, answer: httpx.Response) -> Iterator[str]:
        if answer.headers.get("content-type") != _PROBLEM:
            yield "an error that is no problem"
            return
        if answer.request.method == "HEAD":
            return
        body = answer.json()
        if any(not body.get(name) for name in _MEMBERS) or body["status"] != answer.status_code:
            yield "a problem without its members"
        elif not body["type"].endswith(f":{body['code']}"):
            yield "a problem whose type is not its code"
        if WORD in (answer.text + str(answer.headers)).casefold():
            yield "a problem repeats what was sent"

    def _code(self, answer: httpx.Response) -> str:
        return str(answer.json().get("code")) if answer.is_error and answer.content else ""

    @cached_property
    def _validators(self) -> dict[str, jsonschema_rs.Validator]:
        return {}

    def _validator(self, schema: Json) -> jsonschema_rs.Validator:
        key = json.dumps(schema, sort_keys=True)
        if key not in self._validators:
            self._validators[key] = validator(self.document, schema)
        return self._validators[key]


def _unless(answer: httpx.Response, *statuses: int) -> Iterator[str]:
    if answer.status_code not in statuses:
        yield f"{answer.status_code} instead of {statuses}"
