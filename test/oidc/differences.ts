// Where our answers differ from those of `oidc-provider`, and why. Each case has ours first.

type Difference = { because: string; kind: 'authorize' | 'token'; cases: Record<string, [string, string]> }

const pairs = (ours: string, theirs: string, ...names: string[]): Record<string, [string, string]> =>
  Object.fromEntries(names.map(name => [name, [ours, theirs]]))

export const DIFFERENCES: Difference[] = [
  {
    because: 'A method that a path does not have is 405 on every path of ours.',
    kind: 'authorize',
    cases: pairs('page 405', 'page 404', 'PUT', 'DELETE'),
  },
  {
    because: 'The same at the token address, in our envelope.',
    kind: 'token',
    cases: pairs('405 method_not_allowed', '404', 'GET', 'PUT'),
  },
  {
    because: 'A missing `openid` is a matter of the scope, which RFC 6749 4.1.2.1 has `invalid_scope` for.',
    kind: 'authorize',
    cases: pairs(
      'invalid_scope',
      'invalid_request',
      'scope absent',
      'scope empty',
      'scope in capitals',
      'POST, scope absent',
      'scope="profile"',
      'scope="openid,email"',
    ),
  },
  {
    because: 'We split a scope at every blank, and ignore what is between two.',
    kind: 'authorize',
    cases: pairs('begun', 'invalid_scope', 'scope after a blank', 'scope="openid  email"'),
  },
  {
    because: 'We give the first state back: a client whose framework sends it twice still finds its request.',
    kind: 'authorize',
    cases: pairs('invalid_request', 'invalid_request, another state', 'state twice', 'state beside another', 'POST, state twice'),
  },
  {
    because: 'An S256 challenge is a SHA-256 in base64url: 43 characters, no more and no less.',
    kind: 'authorize',
    cases: pairs('invalid_request', 'begun', `code_challenge="${'x'.repeat(44)}"`, 'code_challenge of 128 characters'),
  },
  {
    because: 'There is no session that a hint could belong to, so we do not read it.',
    kind: 'authorize',
    cases: pairs('begun', 'invalid_request', 'id_token_hint="e30.e30."', 'id_token_hint="not a token"'),
  },
  {
    because: 'The customer is asked each time, which is more than each of these wants; only `none` asks for less.',
    kind: 'authorize',
    cases: pairs('begun', 'invalid_request', 'prompt="select_account"', 'prompt="create"', 'prompt="unknown"'),
  },
  {
    because: 'We read digits only; theirs are whatever JavaScript takes for a number.',
    kind: 'authorize',
    cases: pairs('invalid_request', 'begun', 'max_age="1e3"', 'max_age="+1"', 'max_age="0x10"'),
  },
  {
    because: 'We have one response mode, and no error of its own for others.',
    kind: 'authorize',
    cases: {
      ...pairs('invalid_request', 'begun', 'response_mode="fragment"', 'response_mode="form_post"'),
      ...pairs(
        'invalid_request',
        'unsupported_response_mode',
        'response_mode="web_message"',
        'response_mode="jwt"',
        'response_mode="query.jwt"',
        'response_mode="unknown"',
      ),
    },
  },
  {
    because: 'We have one response type, and answer in the query always; it is compared as text.',
    kind: 'authorize',
    cases: {
      ...pairs(
        'unsupported_response_type',
        'unsupported_response_type, in the fragment',
        'response_type="token"',
        'response_type="id_token"',
        'response_type="code id_token"',
        'response_type="code token"',
        'response_type="code id_token token"',
      ),
      ...pairs('unsupported_response_type', 'begun', 'response_type="code code"'),
    },
  },
  {
    because: 'They know pushed requests, whose addresses begin so; we have none of either kind.',
    kind: 'authorize',
    cases: pairs('request_uri_not_supported', 'invalid_request_uri', 'request_uri="urn:ietf:params:oauth:request_uri:unknown"'),
  },
  {
    because: 'Whoever cannot show which client it is gets one answer, whatever is wrong.',
    kind: 'token',
    cases: {
      ...pairs('401 invalid_client, Basic', '400 invalid_request', 'Basic, not of two parts', 'Basic, and client_id of another'),
      ...pairs('401 invalid_client', '400 invalid_request', 'no client', 'an assertion beside the secret'),
    },
  },
  {
    because: 'One try: a wrong verifier or address spends the code, so that nobody tries again with a stolen one.',
    kind: 'token',
    cases: pairs('400 invalid_grant', '200', 'after a wrong verifier', 'after no verifier', 'after a wrong redirect_uri'),
  },
  {
    because: 'A verifier or address that cannot be right is as wrong as another one, and spends the code too.',
    kind: 'token',
    cases: pairs(
      '400 invalid_grant',
      '400 invalid_request',
      'code_verifier after a blank',
      `code_verifier="${'x'.repeat(42)}"`,
      `code_verifier="${'x'.repeat(42)}+"`,
      'code_verifier of 129 characters',
      'redirect_uri absent',
      'redirect_uri empty',
    ),
  },
]
