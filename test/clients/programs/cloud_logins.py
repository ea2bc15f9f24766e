"""What the vendors' own libraries send for a login, without any network: one case of JSON a line in, one answer a line out."""

import datetime
import json
import os
import sys
import urllib.parse

import botocore.auth
import botocore.session
import google.auth._helpers
import google.auth.aws
import google.auth.identity_pool
import google.auth.impersonated_credentials
import google.oauth2.credentials
import google.oauth2.service_account
import msal
from botocore.awsrequest import AWSRequest, AWSResponse
from botocore.credentials import Credentials

SCOPE = "https://www.googleapis.com/auth/cloud-platform"


def moment(case):
    return datetime.datetime.fromtimestamp(case["nowMs"] / 1000, tz=datetime.timezone.utc).replace(tzinfo=None)


def sign(case):
    """Amazon's signature of a request, by botocore."""
    now = moment(case)
    botocore.auth.get_current_datetime = lambda *_args, **_named: now
    keys = case["keys"]
    credentials = Credentials(keys["accessKeyId"], keys["secret"], keys["sessionToken"])
    request = AWSRequest(method=case["method"], url=case["url"], data=case["body"].encode())
    botocore.auth.SigV4Auth(credentials, keys["service"], keys["region"]).add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


class Raw:
    """The body of a response that was never sent."""

    def __init__(self, text):
        self.text = text.encode()

    def stream(self, *_args, **_named):
        yield self.text


def assume(case):
    """The exchange for a role's keys, by botocore."""
    asked = []
    session = botocore.session.Session()
    keys = case.get("keys")
    if keys is not None:
        session.set_credentials(keys["accessKeyId"], keys["secret"], keys["sessionToken"])
    if case["operation"] == "assume_role":
        now = moment(case)
        botocore.auth.get_current_datetime = lambda *_args, **_named: now
    client = session.create_client("sts", region_name=case["region"])

    def answer(request, **_named):
        body = request.body.decode() if isinstance(request.body, bytes) else request.body
        headers = {
            name.lower(): value.decode() if isinstance(value, bytes) else value
            for name, value in request.headers.items()
        }
        asked.append({"method": request.method, "url": request.url, "body": body, "headers": headers})
        result = "AssumeRoleWithWebIdentity" if "WebIdentity" in body else "AssumeRole"
        keys_xml = (
            "<Credentials><AccessKeyId>ASIAX</AccessKeyId><SecretAccessKey>s</SecretAccessKey>"
            "<SessionToken>t</SessionToken><Expiration>2030-01-01T00:00:00Z</Expiration></Credentials>"
        )
        text = f'<{result}Response xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><{result}Result>{keys_xml}</{result}Result></{result}Response>'
        return AWSResponse(request.url, 200, {"content-type": "text/xml"}, Raw(text))

    client.meta.events.register("before-send.sts", answer)
    getattr(client, case["operation"])(**case["arguments"])
    return asked


class GoogleAnswer:
    def __init__(self, value):
        self.status = 200
        self.headers = {}
        self.data = json.dumps(value).encode() if not isinstance(value, str) else value.encode()


def google_login(case):
    """The requests for a token of Google's, by google-auth."""
    now = moment(case)
    google.auth._helpers.utcnow = lambda: now
    asked = []

    def send(url, method="GET", body=None, headers=None, **_named):
        text = body.decode() if isinstance(body, bytes) else body
        given = {name.lower(): value for name, value in (headers or {}).items()}
        asked.append({"method": method, "url": url, "body": text or "", "headers": given})
        if url == case.get("subjectUrl"):
            return GoogleAnswer(case["subjectAnswer"])
        if "generateAccessToken" in url:
            return GoogleAnswer({"accessToken": "of-another", "expireTime": "2030-01-01T00:00:00Z"})
        return GoogleAnswer({"access_token": "first", "expires_in": 3599, "token_type": "Bearer"})

    for path, text in case.get("files", {}).items():
        if path.startswith("/tmp/headrace-subject-"):
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
    info = case["credentials"]
    if info["type"] == "service_account":
        credentials = google.oauth2.service_account.Credentials.from_service_account_info(info, scopes=[SCOPE])
    elif info["type"] == "authorized_user":
        credentials = google.oauth2.credentials.Credentials.from_authorized_user_info(info)
    elif "environment_id" in info["credential_source"]:
        for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
            os.environ.pop(name, None)
        os.environ.update(case["environment"])
        credentials = google.auth.aws.Credentials.from_info(info, scopes=[SCOPE])
    else:
        credentials = google.auth.identity_pool.Credentials.from_info(info, scopes=[SCOPE])
    if case.get("impersonate") is not None:
        credentials = google.auth.impersonated_credentials.Credentials(
            credentials, case["impersonate"], [SCOPE], lifetime=3600
        )
    credentials.refresh(send)
    for path in case.get("files", {}):
        if path.startswith("/tmp/headrace-subject-"):
            os.unlink(path)
    return asked


class EntraAnswer:
    def __init__(self, value):
        self.status_code = 200
        self.headers = {}
        self.text = json.dumps(value)

    def raise_for_status(self):
        return None

    def json(self):
        return json.loads(self.text)


class EntraClient:
    def __init__(self):
        self.asked = []

    def post(self, url, params=None, data=None, headers=None, **_named):
        form = urllib.parse.urlencode(data) if isinstance(data, dict) else (data or "")
        self.asked.append({"method": "POST", "url": url, "body": form, "headers": headers or {}})
        return EntraAnswer({"access_token": "ey", "expires_in": 3599, "token_type": "Bearer"})

    def get(self, url, params=None, headers=None, **_named):
        if "openid-configuration" in url:
            authority = url.split("/v2.0/")[0]
            return EntraAnswer(
                {
                    "authorization_endpoint": f"{authority}/oauth2/v2.0/authorize",
                    "token_endpoint": f"{authority}/oauth2/v2.0/token",
                    "device_authorization_endpoint": f"{authority}/oauth2/v2.0/devicecode",
                    "issuer": f"{authority}/v2.0",
                }
            )
        query = urllib.parse.urlencode(params or {})
        lower = {name.lower(): value for name, value in (headers or {}).items()}
        self.asked.append({"method": "GET", "url": f"{url}?{query}", "body": "", "headers": lower})
        return EntraAnswer({"access_token": "ey", "expires_in": "3599", "expires_on": "1900000000", "resource": "r"})

    def close(self):
        return None


def entra_login(case):
    """The requests for a token of Entra, by msal."""
    client = EntraClient()
    for name in ("IDENTITY_ENDPOINT", "IDENTITY_HEADER", "IDENTITY_SERVER_THUMBPRINT", "AZURE_POD_IDENTITY_AUTHORITY_HOST"):
        os.environ.pop(name, None)
    os.environ.update(case.get("environment", {}))
    if case["way"] == "managed":
        identity = (
            msal.SystemAssignedManagedIdentity()
            if case.get("clientId") is None
            else msal.UserAssignedManagedIdentity(client_id=case["clientId"])
        )
        told = msal.ManagedIdentityClient(identity, http_client=client).acquire_token_for_client(
            resource=case["scope"].removesuffix("/.default")
        )
    else:
        secret = case["secret"] if case["way"] == "secret" else {"client_assertion": case["secret"]}
        application = msal.ConfidentialClientApplication(
            case["clientId"],
            client_credential=secret,
            authority=f"https://login.microsoftonline.com/{case['tenant']}",
            instance_discovery=False,
            http_client=client,
        )
        told = application.acquire_token_for_client(scopes=[case["scope"]])
    if "access_token" not in told:
        raise RuntimeError(json.dumps(told))
    return client.asked


ways = {"sign": sign, "assume": assume, "google": google_login, "entra": entra_login}

for line in sys.stdin:
    case = json.loads(line)
    try:
        answer = {"told": ways[case["kind"]](case)}
    except Exception as error:
        answer = {"failed": f"{type(error).__name__}: {error}"}
    print(json.dumps(answer), flush=True)

