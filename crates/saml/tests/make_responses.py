#!/usr/bin/env python3
"""Writes responses of the recorded corpus's test identity provider, good ones and attacks, for the test `responses`.

    make_responses.py >crates/saml/tests/data/responses.json

All are issued at the time NOW, to which the test sets its clock.
"""
import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../e2e/golden/saml"))
import idp as identity_provider  # noqa: E402
from saml_golden import pkcs1  # noqa: E402

NOW = 1_767_225_600  # 2026-01-01T00:00:00Z
BASE = "https://project.example/auth/v1"
ENTITY = "https://idp.example/saml"

write_stamp = identity_provider.stamp
identity_provider.stamp = lambda offset=0, now=None: write_stamp(offset, now or NOW)
identity_provider.time.time = lambda: NOW

XSW = ["xsw1", "xsw2", "xsw3", "xsw4", "xsw5", "xsw6", "xsw7", "xsw8", "same-id", "same-id-signed", "edited", "late-attribute", "in-object", "added"]
C14N = identity_provider.C14N
# Name, whether the response is accepted, and the parameters that differ from a plain one.
CASES = [
    ("plain", True, {}),
    ("response signed", True, {"sign": "response"}),
    ("both signed", True, {"sign": "both"}),
    ("sha512", True, {"alg": "sha512"}),
    ("ecdsa", True, {"key": "ec", "alg": "ecdsa"}),
    ("inclusive form", True, {"c14n": "inc"}),
    ("inclusive form 1.1 of the response", True, {"c14n": "inc11", "sign": "response"}),
    ("certificate in lines", True, {"keyinfo": "wrapped"}),
    ("no key info", True, {"keyinfo": "none"}),
    ("comment in the name", True, {"nameid": ["us", {"raw": "<!-- -->"}, "er"]}),
    ("encrypted cbc", True, {"encrypt": {"cipher": "aes256-cbc"}}),
    ("encrypted gcm", True, {"encrypt": {"cipher": "aes128-gcm"}}),
    ("encrypted gcm 256 sha256", True, {"encrypt": {"cipher": "aes256-gcm", "key": "rsa-oaep", "digest": "sha256"}}),
    ("encrypted to the next key", True, {"encrypt": {"to": "sp_next", "place": "sibling"}}),
    ("encrypted in a signed response", True, {"encrypt": {}, "sign": "response"}),
    ("unsigned", False, {"sign": "none"}),
    ("encrypted but unsigned", False, {"encrypt": {}, "sign": "none"}),
    ("rogue key", False, {"key": "rogue"}),
    ("rogue key, certificate of the provider", False, {"key": "rogue", "cert": "a"}),
    ("hmac with the certificate as key", False, {"alg": "hmac-sha256"}),
    ("sha1", False, {"alg": "sha1"}),
    ("md5 digest", False, {"digest": "md5"}),
    ("signature twice", False, {"signature": {"twice": True}}),
    ("second reference", False, {"signature": {"extra": ["#other"]}}),
    ("reference to everything", False, {"signature": {"uri": ""}}),
    ("no transforms", False, {"signature": {"transforms": []}}),
    ("xpath", False, {"signature": {"transforms": [identity_provider.ENVELOPED, "http://www.w3.org/TR/1999/REC-xpath-19991116", C14N["exc"]]}}),
    ("signature in the status", False, {"sign": "response", "move_signature": "status"}),
    ("rogue assertion in a signed response", False, {"sign": "both", "signature": {"key": "rogue"}, "response_signature": {"key": "a"}}),
    ("two assertions", False, {"more": [{"signed": True, "nameid": "other"}]}),
    ("encrypted key damaged", False, {"encrypt": {"damage": "key"}}),
    ("encrypted data damaged", False, {"encrypt": {"damage": "data", "cipher": "aes128-gcm"}}),
    ("encrypted data cut", False, {"encrypt": {"damage": "cut"}}),
    ("encrypted data nearly empty", False, {"encrypt": {"damage": "stub"}}),
    ("rsa pkcs1", False, {"encrypt": {"key": "rsa-1_5"}}),
    ("encrypted to somebody else", False, {"encrypt": {"to": "rogue"}}),
    ("encrypted text", False, {"encrypt": {"content": "no XML"}}),
    ("document type", False, {"before": '<!DOCTYPE x [<!ENTITY e "evil">]>'}),
    ("processing instruction", False, {"nameid": ["us", {"raw": "<?x y?>"}, "er"]}),
    ("other audience", False, {"audience": "https://other.example"}),
    ("one of two audience restrictions", False, {"audiences": [[BASE + "/sso/saml/metadata"], ["https://other.example"]]}),
    ("second audience of a restriction", True, {"audiences": [["https://other.example", BASE + "/sso/saml/metadata"]]}),
    ("no audience", False, {"omit": ["audience"]}),
    ("no conditions", False, {"omit": ["conditions"]}),
    ("no confirmation", False, {"omit": ["confirmation"]}),
    ("no confirmation data", False, {"omit": ["confirmation_data"]}),
    ("no subject", False, {"omit": ["subject"]}),
    ("no issuer", False, {"omit": ["issuer"]}),
    ("no issuer of the response", True, {"omit": ["response_issuer"]}),
    ("no status", False, {"omit": ["status"]}),
    ("no assertion", False, {"omit": ["assertion"]}),
    ("failed", False, {"status": "Responder"}),
    ("holder of key", False, {"assertion": {"Method": "urn:oasis:names:tc:SAML:2.0:cm:holder-of-key"}}),
    ("other recipient", False, {"assertion": {"Recipient": "https://other.example/acs"}}),
    ("other destination", False, {"response": {"Destination": "https://other.example/acs"}}),
    ("no destination in a signed response", False, {"sign": "response", "response": {"Destination": None}}),
    ("other issuer", False, {"assertion": {"Issuer": "https://other.example"}}),
    ("other issuer of the response", False, {"response": {"Issuer": "https://other.example"}}),
    ("answers another request", False, {"request": "id-other"}),
    ("answers no request", False, {"request": None}),
    ("request only in the response", False, {"assertion": {"InResponseTo": None}}),
    ("issued long ago", False, {"times": {"issued": -91}}),
    ("issued in the future", False, {"times": {"issued": 181}}),
    ("issued a little ahead", True, {"times": {"issued": 100}}),
    ("issued without a zone", False, {"times": {"issued": "2026-01-01T00:00:00"}}),
    ("not yet", False, {"times": {"not_before": 181}}),
    ("expired", False, {"times": {"not_after": -181}}),
    ("expired within the skew", True, {"times": {"not_after": -170, "confirm_until": -170}}),
    ("confirmation expired", False, {"times": {"confirm_until": -181}}),
    ("confirmation not yet", False, {"times": {"confirm_from": 181}}),
] + [(attack, False, {"attack": attack, "sign": "response" if attack in identity_provider.RESPONSE_ATTACKS else "assertion"}) for attack in XSW]


def main():
    idp = identity_provider.Idp(BASE + "/sso/saml/metadata", BASE + "/sso/saml/acs")
    common = {"entity": ENTITY, "request": "id-request", "nameid": "user", "attributes": [["email", ["user@idp.example"]]]}
    cases = [{"name": name, "accepted": good, "xml": idp.response({**common, **change}).decode()} for name, good, change in CASES]
    data = {
        "now": NOW,
        "metadata": idp.metadata({"entity": ENTITY, "keys": [{"key": "a", "use": "encryption"}, {"data": "junk"}, "a", "ec"]}),
        "keys": {name: pkcs1(identity_provider.KEYS[name]) for name in ("sp", "sp_next")},
        "cases": cases,
    }
    print(json.dumps(data, indent=1, ensure_ascii=False))


main()
