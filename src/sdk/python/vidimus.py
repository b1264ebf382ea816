"""Client for a merchant's server, and the check of its webhooks. Python 3.9 or newer, no other package.

    vidimus = Vidimus("https://verify.example", os.environ["API_KEY"])
    created = vidimus.create({"template": "age_over_18", "purpose": "To sell you wine"})
    send_the_customer_to(created["page_url"])
    verification = vidimus.wait(created["id"])
    if verification["status"] == "completed" and verification["claims"]["age_over_18"] is True: ...

Every call raises VidimusError when it fails. A call that is safe to repeat is tried up to four times: without an answer,
after a 5xx, and after a 429 once Retry-After has passed, if that is within twice its `timeout`.
"""

from __future__ import annotations

import email.utils
import hashlib
import hmac
import http.client
import json
import math
import random
import re
import time
import urllib.error
import urllib.request
import uuid
from typing import Any, Iterator, List, Literal, Mapping, Optional, Sequence, TypedDict, Union
from urllib.parse import quote, urlencode, urlsplit

__all__ = ["Vidimus", "VidimusError", "Verification", "WebhookError", "WebhookEvent", "verify_webhook"]

ANSWER_BYTES_MAX = 32 * 1024 * 1024
TRIES_MAX = 4
POLL_SECONDS_MAX = 5.0
# Longer than the life of any session.
WAIT_SECONDS = 75 * 60
# Over plain http everybody on the way could read the key: this machine, private addresses, and names of no public host.
PRIVATE_HOST = re.compile(
    r"(127|10|192\.168|172\.(1[6-9]|2[0-9]|3[01]))\.[0-9.]+|::1|f[cd][0-9a-f:]+:[0-9a-f:]*"
    r"|[a-z0-9_-]+|.+\.(localhost|local|internal|lan|home\.arpa)"
)


class Finding(TypedDict, total=False):
    check: str
    status: Literal["pass", "fail", "warning", "skipped"]
    detail: str


class Credential(TypedDict):
    format: Literal["mso_mdoc", "dc+sd-jwt"]
    doctype_or_vct: str
    claims: dict[str, Any]
    issuer: dict[str, str]
    trusted: bool
    signature_valid: bool
    holder_binding_valid: bool
    findings: list[Finding]


class Verification(TypedDict, total=False):
    """As the API returns it; `page_url`, the hosted page for the holder, only from `create`."""

    id: str
    status: Literal["pending", "completed", "failed", "expired"]
    template: str
    wallet_uri: str
    request_uri: str
    claims: dict[str, Any]
    credentials: list[Credential]
    error: dict[str, str]
    metadata: dict[str, str]
    purpose: str
    redirect_url: str
    created_at: str
    expires_at: str
    responded_at: str
    page_url: str


class VidimusError(Exception):
    """A failed call. Decide by `code`: one of the API, or `no_answer`, `unexpected_answer`, `still_pending`.

    `maybe_done`: an attempt got no answer or a 5xx, so the service may have done the work all the same.
    """

    def __init__(
        self,
        code: str,
        message: str,
        status: Optional[int] = None,
        request_id: Optional[str] = None,
        retry_after: Optional[float] = None,
        maybe_done: bool = False,
    ) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code
        self.message = message
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.maybe_done = maybe_done


class _NoRedirect(urllib.request.HTTPRedirectHandler):
    """A redirect would send the key to another host."""

    def redirect_request(self, *_: Any) -> None:
        return None


def _checked_seconds(name: str, seconds: float) -> float:
    # Comparisons with NaN are false: no limit would ever be reached.
    if not 0 <= seconds < 1e11:
        raise ValueError(f"{name}: give a number of seconds, 0 or more")
    return seconds


class Vidimus:
    """`timeout` is the limit in seconds for each silence of the service; a call is not repeated after twice that time."""

    def __init__(self, base_url: str, api_key: str, timeout: float = 15.0) -> None:
        parts = urlsplit(base_url)
        # The line end of a file with the address, for one, would look like an unreachable service.
        is_whole = re.fullmatch(r"(?i:https?)://[^/?#@\s]+(/[^?#\s]*)?", base_url)
        # `port` raises a ValueError for one that is no number.
        if not is_whole or not parts.hostname or (parts.port or 0) < 0:
            raise ValueError("base_url: give the address of the service, such as https://verify.example")
        if parts.scheme == "http" and not PRIVATE_HOST.fullmatch(parts.hostname):
            raise ValueError("base_url: use https. Plain http is for this machine and for private networks.")
        # The value is not quoted: messages may be logged.
        if not re.fullmatch(r"vk_(test|live)_[A-Za-z0-9]{1,200}", api_key):
            raise ValueError("api_key: give the whole API key, vk_test_ or vk_live_ and what follows")
        self._base = base_url.rstrip("/")
        self._key = api_key
        self._timeout = _checked_seconds("timeout", timeout)
        self._opener = urllib.request.build_opener(_NoRedirect)

    def create(self, body: Mapping[str, Any], idempotency_key: Optional[str] = None) -> Verification:
        """Creates exactly one session: all attempts carry one Idempotency-Key. Give your own to repeat after a crash."""
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        if not re.fullmatch(r"[\x21-\x7e]{1,255}", key):
            raise ValueError("idempotency_key: give 1 to 255 printable ASCII characters without spaces")
        created, headers = self._send("POST", "/v1/verifications", "id", body, {"idempotency-key": key}, repeat=True)
        link = re.search(r'<(https?:[^<>]+)>; rel="alternate"', headers.get("link", ""))
        created["page_url"] = link[1] if link else f"{self._base}/v/{created['id']}"
        return created

    def get(self, id: str) -> Verification:
        return self._send("GET", self._path(id), "status", repeat=True)[0]

    def list(self, limit: int = 20, before: Optional[str] = None) -> List[Verification]:
        """One page, the newest first; `before` is the `created_at` of the last one seen."""
        query = {"limit": limit, **({"before": before} if before else {})}
        return self._send("GET", f"/v1/verifications?{urlencode(query)}", "data", repeat=True)[0]["data"]

    def all(self) -> Iterator[Verification]:
        """Every session, the newest first, page by page."""
        before = None
        while True:
            page = self.list(100, before)
            yield from page
            if len(page) < 100:
                return
            before = page[-1]["created_at"]

    def wait(self, id: str, timeout: float = WAIT_SECONDS) -> Verification:
        """The verification once it has ended. Check its `status`: `completed`, `failed` and `expired` all return."""
        until = time.monotonic() + _checked_seconds("timeout", timeout)
        found, pause = self._send("GET", self._path(id), "status", repeat=True, until=until)[0], 1.0
        while found["status"] == "pending":
            nap = pause * (0.5 + random.random() / 2)
            left = max(until - time.monotonic(), 0.0)
            time.sleep(min(nap, left))
            pause = min(pause * 1.5, POLL_SECONDS_MAX)
            try:
                # The last look, when the time is over, has a second of its own.
                limit = max(until, time.monotonic() + 1.0)
                status = self._send("GET", self._path(id, "/status"), "status", repeat=True, until=limit)[0]["status"]
            except VidimusError as error:
                if error.status is not None and error.status < 500 and error.status != 429:
                    raise
                status = "pending"
            if status != "pending":
                found = self.get(id)
            elif nap >= left:
                raise VidimusError("still_pending", f"The verification has not ended within {timeout:g} seconds.")
        return found

    def cancel(self, id: str) -> Verification:
        return self._send("POST", self._path(id, "/cancel"), "status", repeat=True)[0]

    def redeem(self, id: str, response_code: str) -> Verification:
        """Exchanges the code of a redirect for the result, once. It is never repeated after a lost answer, because a
        second use looks like a forged code: then `maybe_done` is true and nothing is proven; start a new session."""
        return self._send("POST", self._path(id, "/redeem"), "status", {"response_code": response_code})[0]

    def erase(self, id: str) -> dict[str, Any]:
        """Erases a session for good; needs the scope `verifications:delete`."""
        return self._send("DELETE", self._path(id), "deleted", repeat=True)[0]

    def templates(self) -> List[dict[str, Any]]:
        return self._send("GET", "/v1/templates", "data", repeat=True)[0]["data"]

    def usage(self) -> dict[str, Any]:
        return self._send("GET", "/v1/usage", "day", repeat=True)[0]

    @staticmethod
    def _path(id: str, rest: str = "") -> str:
        if not id:
            raise ValueError("id: give the id of a verification, vs_ and what follows")
        return f"/v1/verifications/{quote(id, safe='')}{rest}"

    def _send(
        self,
        method: str,
        path: str,
        field: str,
        body: Optional[Mapping[str, Any]] = None,
        headers: Mapping[str, str] = {},
        repeat: bool = False,
        until: float = math.inf,
    ) -> tuple[Any, Mapping[str, str]]:
        maybe_done, until = False, min(until, time.monotonic() + 2 * self._timeout)
        for tried in range(1, TRIES_MAX + 1):
            try:
                limit = min(self._timeout, max(until - time.monotonic(), 0.001))
                return self._attempt(method, path, field, body, headers, limit)
            except VidimusError as error:
                maybe_done = error.maybe_done = maybe_done or error.maybe_done
                pause = self._pause(error, repeat, tried)
                # A spent quota, for one, is over at midnight only.
                if pause is None or tried == TRIES_MAX or time.monotonic() + pause >= until:
                    raise
                time.sleep(pause)
        raise AssertionError("unreachable")

    @staticmethod
    def _pause(error: VidimusError, repeat: bool, tried: int) -> Optional[float]:
        """Seconds before the next attempt; None when the call must not be repeated."""
        backoff = random.random() * 0.5 * 3 ** (tried - 1)
        # Refused before any work was done.
        if error.status == 429:
            return (error.retry_after or 1.0) + backoff
        if error.code == "idempotency_key_in_flight":
            return backoff
        if not repeat or (error.code != "no_answer" and (error.status or 0) < 500):
            return None
        return max(backoff, error.retry_after or 0.0)

    def _attempt(
        self,
        method: str,
        path: str,
        field: str,
        body: Optional[Mapping[str, Any]],
        headers: Mapping[str, str],
        limit: float,
    ) -> tuple[Any, Mapping[str, str]]:
        request = urllib.request.Request(self._base + path, method=method)
        request.add_header("accept", "application/json")
        request.add_header("authorization", f"Bearer {self._key}")
        for name, value in headers.items():
            request.add_header(name, value)
        if body is not None:
            request.data = json.dumps(body).encode()
            request.add_header("content-type", "application/json")
        mutates = method != "GET"
        try:
            with self._open(request, limit) as answer:
                if not 200 <= answer.status < 300:
                    raise self._refusal(answer, mutates)
                return self._read(answer, field, mutates), {k.lower(): v for k, v in answer.headers.items()}
        # The latter when an answer is cut off, or is no HTTP at all.
        except (OSError, http.client.HTTPException) as error:
            message = "The service could not be reached, or did not answer in time."
            raise VidimusError("no_answer", message, maybe_done=mutates) from error

    def _open(self, request: urllib.request.Request, limit: float) -> Any:
        try:
            return self._opener.open(request, timeout=limit)
        except urllib.error.HTTPError as refused:
            return refused

    @staticmethod
    def _read(answer: Any, field: str, maybe_done: bool) -> Any:
        """`field` is one that the answer must have: something else on the way may answer with JSON too."""
        text = answer.read(ANSWER_BYTES_MAX + 1)
        if len(text) <= ANSWER_BYTES_MAX:
            # A read with a limit does not say that the answer was cut off.
            if answer.length:
                raise http.client.IncompleteRead(text, answer.length)
            try:
                parsed = json.loads(text)
                if isinstance(parsed, dict) and isinstance(parsed.get(field), list if field == "data" else (str, dict)):
                    return parsed
            except (ValueError, RecursionError):
                pass
        message = "The answer is not from this service: the page of a proxy, or too long."
        raise VidimusError("unexpected_answer", message, answer.status, maybe_done=maybe_done)

    def _refusal(self, answer: Any, mutates: bool) -> VidimusError:
        try:
            error = self._read(answer, "error", False)["error"]
        except VidimusError:
            error = None
        if not isinstance(error, dict) or not isinstance(error.get("code"), str):
            error = {"code": "unexpected_answer", "message": "The answer is not from this service."}
        return VidimusError(
            error["code"],
            str(error.get("message", ""))[:500],
            answer.status,
            request_id=answer.headers.get("x-request-id"),
            retry_after=self._seconds(answer.headers.get("retry-after", "")),
            maybe_done=mutates and answer.status >= 500,
        )

    @staticmethod
    def _seconds(retry_after: str) -> Optional[float]:
        if re.fullmatch(r"[0-9]{1,9}", retry_after):
            return float(retry_after)
        try:
            return max(0.0, email.utils.parsedate_to_datetime(retry_after).timestamp() - time.time())
        except (TypeError, ValueError, OverflowError):
            return None


class WebhookEvent(TypedDict):
    type: Literal["verification.completed", "verification.failed"]
    verification: Verification
    sent_at: str


class WebhookError(Exception):
    """The message must not be trusted: answer with 400. `code` is one of `missing_header`, `malformed_header`,
    `timestamp_out_of_tolerance`, `no_match`, `invalid_payload`."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(f"{code}: {message}")
        self.code = code


def verify_webhook(
    payload: bytes,
    header: Optional[str],
    secret: Union[str, Sequence[str]],
    tolerance: float = 300,
    now: Optional[float] = None,
) -> WebhookEvent:
    """Checks a webhook and returns its event. `payload` is the raw body, `header` the value of X-Service-Signature,
    `secret` the whole `whsec_…` text, or several while you replace one. Compare `verification["id"]` with the session
    that you created: its metadata proves nothing."""
    if not isinstance(payload, bytes):
        raise TypeError("payload: give the raw bytes of the body, before it is parsed")
    secrets = [secret] if isinstance(secret, str) else list(secret)
    # An empty or cut secret must fail here: anybody could sign with it.
    if not secrets or not all(re.fullmatch(r"whsec_[A-Za-z0-9+/]{32,88}={0,2}", each) for each in secrets):
        raise ValueError("secret: give the whole webhook secret, whsec_ and what follows")
    clock = _checked_seconds("now", time.time() if now is None else now)
    _checked_seconds("tolerance", tolerance)
    if not header:
        raise WebhookError("missing_header", "The message has no X-Service-Signature header.")
    parts = [part.strip(" \t") for part in header.split(",")] if len(header) <= 2048 else []
    times = [part[2:] for part in parts if part.startswith("t=")]
    candidates = [part[3:] for part in parts if part.startswith("v1=")]
    if len(times) != 1 or not re.fullmatch(r"[0-9]{1,12}", times[0]) or not 1 <= len(candidates) <= 16:
        raise WebhookError("malformed_header", "The X-Service-Signature header is not t=…,v1=….")
    if abs(clock - int(times[0])) > tolerance:
        raise WebhookError("timestamp_out_of_tolerance", f"The message was signed more than {tolerance} seconds from now.")
    signed = times[0].encode() + b"." + payload
    macs = [hmac.new(each.encode(), signed, hashlib.sha256).hexdigest().encode() for each in secrets]
    # Every candidate is compared with every secret, also after a match.
    if not any([hmac.compare_digest(mac, each.encode(errors="replace")) for mac in macs for each in candidates]):
        raise WebhookError("no_match", "No signature matches: the body was changed, or the secret is another one.")
    try:
        event = json.loads(payload.decode())
    except ValueError:
        raise WebhookError("invalid_payload", "The message is genuine, but not JSON.") from None
    is_known = isinstance(event, dict) and event.get("type") in ("verification.completed", "verification.failed")
    verification = event.get("verification") if is_known else None
    if isinstance(verification, dict) and isinstance(verification.get("id"), str) and isinstance(event.get("sent_at"), str):
        return event  # type: ignore[return-value]
    raise WebhookError("invalid_payload", "The message is genuine, but not an event that this version knows.")
