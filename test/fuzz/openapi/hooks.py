import re

import schemathesis

# Refusals of requests that fit the document, by operation: code and message.
REFUSALS = {
    "createVerification": [
        r"unknown_template ",
        r"invalid_webhook_url ",
        r"idempotency_key_reused ",
        # References and repetitions, for which JSON Schema has no words.
        r"invalid_request query\.\S+: (No (claim|credential) of this query has the id|The id .* is taken|An earlier claim has the same path|The member .* is unknown)",
        # Apps' own schemes are listed by the tenant.
        r"invalid_request redirect_url: ",
    ],
    "enrollDevice": [r"invalid_pairing_code "],
    "refreshDevice": [r"invalid_refresh_token "],
    # Schemathesis 4.32 sends the members of an object as fields of the form, although its encoding says application/json.
    "postRequestObject": [r"invalid_request body: (a field is repeated|more than 32 fields)"],
    "postWalletResponse": [r"invalid_wallet_response "],
}


@schemathesis.check
def refused_for_a_known_reason(ctx, response, case):
    meta = case.meta
    if meta is None or not meta.generation.mode.is_positive or response.status_code not in (400, 422):
        return
    error = response.json()["error"]
    given = f"{error['code']} {error['message']}"
    reasons = REFUSALS.get(case.operation.definition.raw.get("operationId"), [])
    assert any(re.match(reason, given) for reason in reasons), f"schema-valid request refused: {given}"
