# Reads a request as a wallet in Python would: openvc-core the papers, jwcrypto the request object, pycose the reader's signature.
import base64, json, sys

import cbor2
from cryptography import x509
from jwcrypto import jwk, jws
from openvc.rp_cert import verify_rp_access_certificate
from openvc.rp_registration import (
    check_matches_access_certificate,
    check_request_within_registration,
    verify_rp_registration_certificate,
)
from pycose.keys import EC2Key
from pycose.keys.curves import P256
from pycose.messages import Sign1Message


def decode(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def header_of(jwt):
    return json.loads(decode(jwt.split(".")[0]))


given = json.load(sys.stdin)
header = header_of(given["redirect"])
leaf = base64.b64decode(header["x5c"][0])
certificate = x509.load_der_x509_certificate(leaf)
access = verify_rp_access_certificate(leaf, trust_anchors=[given["authority"].encode()])

request = jws.JWS()
request.deserialize(given["redirect"], jwk.JWK.from_pyca(certificate.public_key()))
claims = json.loads(request.payload)

[info] = claims["verifier_info"]
registrar = base64.b64decode(header_of(info["data"])["x5c"][-1])
registration = verify_rp_registration_certificate(info["data"], trust_anchors=[registrar])
check_matches_access_certificate(registration, access)
check_request_within_registration(registration, claims["dcql_query"])

[document] = cbor2.loads(decode(given["deviceRequest"]))["docRequests"]
signed = b"\x83" + cbor2.dumps("ReaderAuthentication") + bytes.fromhex(given["transcript"]) + cbor2.dumps(document["itemsRequest"])
protected, unprotected, _, signature = document["readerAuth"]
payload = cbor2.dumps(cbor2.CBORTag(24, signed))
message = Sign1Message.decode(cbor2.dumps(cbor2.CBORTag(18, [protected, unprotected, payload, signature])))
point = certificate.public_key().public_numbers()
message.key = EC2Key(crv=P256, x=point.x.to_bytes(32, "big"), y=point.y.to_bytes(32, "big"))
items = cbor2.loads(document["itemsRequest"].value)

json.dump(
    {
        "organization": access.entity_identifier,
        "intended_use": registration.intended_use_id,
        "header_iat": header["iat"] == claims["iat"],
        "reader": message.verify_signature(),
        "reader_is_access": unprotected[33] == leaf,
        "wrprc": items["requestInfo"]["euWrprc"].decode() == info["data"],
    },
    sys.stdout,
)
