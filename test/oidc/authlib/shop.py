"""A shop in Python as Authlib's documentation has it: Flask, discovery, and every check that Authlib makes by itself."""
import os
import sys

from authlib.integrations.flask_client import OAuth
from flask import Flask, jsonify, url_for
from werkzeug.serving import make_server

app = Flask(__name__)
app.secret_key = os.urandom(32)
wallet = OAuth(app).register(
    name="wallet",
    server_metadata_url=f"{os.environ['ISSUER']}/.well-known/openid-configuration",
    client_id=os.environ["CLIENT_ID"],
    client_secret=os.environ["CLIENT_SECRET"],
    client_kwargs={"scope": "openid", "code_challenge_method": "S256"},
)


@app.route("/login")
def login():
    return wallet.authorize_redirect(url_for("callback", _external=True))


@app.route("/callback")
def callback():
    token = wallet.authorize_access_token()
    return jsonify(id_token=token["userinfo"], userinfo=wallet.userinfo(token=token))


@app.errorhandler(Exception)
def refused(error):
    names = [each.__name__ for each in type(error).__mro__]
    return jsonify(refused=names[0], error=getattr(error, "error", None), text=str(error)), 400


server = make_server("127.0.0.1", int(sys.argv[1]), app)
print("ready", flush=True)
server.serve_forever()
