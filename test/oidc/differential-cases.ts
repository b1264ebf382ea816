// Authorization and token requests, each with one thing that is not as usual. Two providers answer all of them.

/** A list stands for a parameter that is sent several times. */
export type Params = Record<string, string | string[] | undefined>

export const REDIRECT = 'https://club.example/callback'
export const LOOPBACK = 'http://127.0.0.1/callback'
export const VERIFIER = 'a-verifier-of-sixty-letters-which-nobody-guesses-in-this-test'
export const STATE = 'the-state'

/** `secret` and `other` have one, `public` has none, `old` has one and needs no PKCE. */
export type ClientName = 'secret' | 'other' | 'public' | 'old'

export type AuthorizeCase = {
  name: string
  client?: ClientName
  params?: Params
  method?: string
  /** Of a POST; by default that of a form. */
  type?: string
}

const GOOD = ['client_id', 'redirect_uri', 'response_type', 'scope', 'state', 'nonce', 'code_challenge', 'code_challenge_method']

const described = (name: string, value: string): string =>
  value.length > 60 ? `${name} of ${value.length} characters` : `${name}=${JSON.stringify(value)}`

const one = (name: string, values: readonly string[], more: Omit<AuthorizeCase, 'name' | 'params'> = {}): AuthorizeCase[] =>
  values.map(value => ({ name: described(name, value), params: { [name]: value }, ...more }))

const SHAPES: [string, (value: string) => string | string[] | undefined][] = [
  ['absent', () => undefined],
  ['empty', () => ''],
  ['twice', value => [value, value]],
  ['beside another', value => [value, `${value}x`]],
  ['after a blank', value => ` ${value}`],
  ['in capitals', value => (value.startsWith('$') ? `${value}_IN_CAPITALS` : value.toUpperCase())],
]

/** Placeholders, for values that each provider has of its own. */
const given = (name: string): string =>
  ({
    client_id: '$CLIENT',
    redirect_uri: REDIRECT,
    response_type: 'code',
    scope: 'openid',
    state: STATE,
    nonce: 'the-nonce',
    code_challenge: '$CHALLENGE',
    code_challenge_method: 'S256',
  })[name] ?? ''

const shapes = (method: 'GET' | 'POST', wanted: string[]): AuthorizeCase[] =>
  GOOD.flatMap(name =>
    SHAPES.filter(([shape]) => wanted.includes(shape)).map(([shape, of]) => ({
      name: `${method === 'POST' ? 'POST, ' : ''}${name} ${shape}`,
      method,
      params: { [name]: of(given(name)) },
    })),
  )

const REDIRECTS = [
  `${REDIRECT}/`,
  `${REDIRECT}?`,
  `${REDIRECT}?next=1`,
  `${REDIRECT}#`,
  `${REDIRECT}#fragment`,
  `${REDIRECT}/../callback`,
  `${REDIRECT}%2f`,
  `${REDIRECT};a=b`,
  'https://club.example/Callback',
  'https://club.example/./callback',
  'https://club.example//callback',
  'https://club.example/%63allback',
  'https://club.example\\callback',
  'https://club.example/',
  'https://club.example',
  'https://CLUB.example/callback',
  'HTTPS://club.example/callback',
  'https://club.example:443/callback',
  'https://club.example:8443/callback',
  'https://club.example./callback',
  'https://club.example.evil.example/callback',
  'https://evil.example/callback',
  'https://evil.example/?https://club.example/callback',
  'https://evil.example#https://club.example/callback',
  'https://club.example@evil.example/callback',
  'https://user@club.example/callback',
  'https://sub.club.example/callback',
  'https://xn--clb-hoa.example/callback',
  'http://club.example/callback',
  '//club.example/callback',
  '/callback',
  'javascript:alert(1)//club.example/callback',
  'data:text/html,hello',
  `${REDIRECT}\n`,
  `\t${REDIRECT}`,
  'club.example:/callback',
]

export const AUTHORIZE: AuthorizeCase[] = [
  { name: 'as usual' },
  { name: 'as usual, POST', method: 'POST' },
  ...shapes('GET', ['absent', 'empty', 'twice', 'beside another', 'after a blank', 'in capitals']),
  ...shapes('POST', ['absent', 'twice']),
  ...one('redirect_uri', REDIRECTS),
  ...one(
    'redirect_uri',
    [LOOPBACK, 'http://127.0.0.1:4711/callback', 'http://127.0.0.1:4711/other', 'http://localhost/callback'],
    {
      client: 'public',
    },
  ),
  ...one('response_type', [
    'token',
    'id_token',
    'code id_token',
    'code token',
    'code id_token token',
    'none',
    'code code',
    'unknown',
  ]),
  ...one('response_mode', ['query', 'fragment', 'form_post', 'web_message', 'jwt', 'query.jwt', 'unknown', '']),
  ...one('scope', [
    'openid profile',
    'profile openid',
    'profile',
    'openid openid',
    'openid unknown',
    'openid email phone address',
    'openid offline_access',
    'openid  email',
    'openid\temail',
    'openid,email',
    'openid vidimus:identity_basic',
  ]),
  ...one('prompt', ['none', 'login', 'consent', 'select_account', 'login consent', 'none login', 'create', 'unknown', '']),
  ...one('max_age', ['0', '1', '3600', '-1', '1.5', '1e3', '+1', '0x10', 'soon', '99999999999999999999', '']),
  ...one('code_challenge', [
    'short',
    'x'.repeat(42),
    'x'.repeat(44),
    'x'.repeat(128),
    'x'.repeat(129),
    `${'x'.repeat(42)}+`,
    `${'x'.repeat(42)}=`,
  ]),
  ...one('code_challenge_method', ['plain', 's256', 'S512', 'none']),
  ...one('request', ['e30.e30.', 'not a token', '']),
  ...one('request_uri', ['https://club.example/request.jwt', 'urn:ietf:params:oauth:request_uri:unknown', '']),
  ...one('registration', ['{}', '']),
  ...one('claims', ['{"userinfo":{"email":null}}', 'not JSON', '[]']),
  ...one('id_token_hint', ['e30.e30.', 'not a token']),
  ...one('state', ['x'.repeat(1024), 'ü€ 😀', '<script>', 'a&b=c#d']),
  ...one('nonce', ['x'.repeat(512), 'ü€ 😀']),
  ...one('client_id', ['unknown', '$OTHER_ENVIRONMENT', "' OR 1=1 --"]),
  ...one('login_hint', ['erika']),
  ...one('ui_locales', ['de en', 'xx']),
  ...one('display', ['page', 'popup', 'unknown']),
  ...one('acr_values', ['urn:unknown']),
  ...one('resource', ['https://api.example']),
  ...one('audience', ['https://api.example']),
  ...one('unknown', ['value']),
  { name: 'no PKCE, a client that may', client: 'old', params: { code_challenge: undefined, code_challenge_method: undefined } },
  { name: 'PKCE, a client that need not', client: 'old' },
  { name: 'a client without a secret', client: 'public', params: { redirect_uri: LOOPBACK } },
  {
    name: 'a client without a secret, no PKCE',
    client: 'public',
    params: { redirect_uri: LOOPBACK, code_challenge: undefined, code_challenge_method: undefined },
  },
  { name: 'PUT', method: 'PUT' },
  { name: 'DELETE', method: 'DELETE' },
  { name: 'POST, JSON', method: 'POST', type: 'application/json' },
  { name: 'POST, multipart', method: 'POST', type: 'multipart/form-data; boundary=x' },
  { name: 'POST, a form with its character set', method: 'POST', type: 'application/x-www-form-urlencoded; charset=UTF-8' },
]

export type TokenCase = {
  name: string
  client?: ClientName
  /** How the client names itself; by default the secret in the form. */
  auth?:
    | 'post'
    | 'basic'
    | 'none'
    | 'both'
    | 'basic, lower case'
    | 'basic, wrong'
    | 'basic, broken'
    | 'basic, unknown'
    | 'post, wrong'
  /** Whose code it is; by default that of the client. */
  codeOf?: ClientName
  /** Asked for without a challenge. */
  withoutChallenge?: boolean
  params?: Params
  method?: string
  type?: string
  /** A request before it, with the same code. */
  after?: Omit<TokenCase, 'name' | 'after'>
}

const FORM: Record<string, string> = {
  grant_type: 'authorization_code',
  code: '$CODE',
  redirect_uri: REDIRECT,
  code_verifier: VERIFIER,
}

const oneOfForm = (name: string, values: readonly string[]): TokenCase[] =>
  values.map(value => ({ name: described(name, value), params: { [name]: value } }))

export const TOKEN: TokenCase[] = [
  { name: 'as usual' },
  { name: 'a form with its character set', type: 'application/x-www-form-urlencoded; charset=UTF-8' },
  ...Object.entries(FORM).flatMap(([name, value]) =>
    SHAPES.map(([shape, of]): TokenCase => ({ name: `${name} ${shape}`, params: { [name]: of(value) } })),
  ),
  ...oneOfForm('grant_type', [
    'refresh_token',
    'client_credentials',
    'password',
    'implicit',
    'urn:ietf:params:oauth:grant-type:jwt-bearer',
  ]),
  ...oneOfForm('code', ['unknown', 'x'.repeat(43), 'x'.repeat(5000)]),
  ...oneOfForm('redirect_uri', [`${REDIRECT}/`, 'https://evil.example/callback']),
  ...oneOfForm('code_verifier', ['x'.repeat(42), 'x'.repeat(43), 'x'.repeat(128), 'x'.repeat(129), `${'x'.repeat(42)}+`]),
  ...oneOfForm('scope', ['openid', 'openid email']),
  ...oneOfForm('resource', ['https://api.example']),
  ...oneOfForm('unknown', ['value']),
  { name: 'Basic', client: 'other', auth: 'basic' },
  { name: 'Basic, lower case', client: 'other', auth: 'basic, lower case' },
  { name: 'Basic, a wrong secret', client: 'other', auth: 'basic, wrong' },
  { name: 'Basic, not of two parts', client: 'other', auth: 'basic, broken' },
  { name: 'Basic, an unknown client', client: 'other', auth: 'basic, unknown' },
  { name: 'Basic, and client_id of the same', client: 'other', auth: 'basic', params: { client_id: '$CLIENT' } },
  { name: 'Basic, and client_id of another', client: 'other', auth: 'basic', params: { client_id: 'another' } },
  { name: 'Basic, and the secret in the form', client: 'other', auth: 'both' },
  { name: 'Basic, of a client that is registered for the form', auth: 'basic' },
  { name: 'a wrong secret', auth: 'post, wrong' },
  { name: 'an empty secret', params: { client_secret: '' } },
  { name: 'no secret', auth: 'none' },
  { name: 'no client', auth: 'none', params: { client_id: undefined } },
  { name: 'an unknown client', params: { client_id: 'unknown' } },
  { name: 'client_id twice', params: { client_id: ['$CLIENT', '$CLIENT'] } },
  {
    name: 'an assertion',
    auth: 'none',
    params: { client_assertion: 'e30.e30.', client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' },
  },
  {
    name: 'an assertion beside the secret',
    params: { client_assertion: 'e30.e30.', client_assertion_type: 'urn:ietf:params:oauth:client-assertion-type:jwt-bearer' },
  },
  { name: 'a client without a secret', client: 'public', auth: 'none', params: { redirect_uri: LOOPBACK } },
  { name: 'a client without a secret, with one', client: 'public', auth: 'post, wrong', params: { redirect_uri: LOOPBACK } },
  { name: 'no challenge, no verifier', client: 'old', withoutChallenge: true, params: { code_verifier: undefined } },
  { name: 'no challenge, and a verifier', client: 'old', withoutChallenge: true },
  { name: 'a challenge, no verifier, a client that need not', client: 'old', params: { code_verifier: undefined } },
  { name: 'the code of another client', codeOf: 'other' },
  { name: 'the same code again', after: {} },
  { name: 'after a wrong verifier', after: { params: { code_verifier: 'x'.repeat(43) } } },
  { name: 'after no verifier', after: { params: { code_verifier: undefined } } },
  { name: 'after a wrong redirect_uri', after: { params: { redirect_uri: `${REDIRECT}/` } } },
  { name: 'after a wrong secret', after: { auth: 'post, wrong' } },
  { name: 'after another client', after: { client: 'other', auth: 'basic' } },
  { name: 'after a wrong grant_type', after: { params: { grant_type: 'refresh_token' } } },
  { name: 'GET', method: 'GET' },
  { name: 'PUT', method: 'PUT' },
  { name: 'JSON', type: 'application/json' },
  { name: 'no type', type: '' },
]
