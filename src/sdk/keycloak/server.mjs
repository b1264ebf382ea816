// An OpenID Connect provider for Keycloak, or any other client, that logs in by wallet. It logs in the browser that the
// wallet returned to: the one-time code of the redirect proves that.
import { createHash, createHmac, generateKeyPairSync, randomBytes, sign, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { createClient, VidimusError } from '../client.ts'

const { PORT, PUBLIC_URL, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI, SUBJECT_SECRET, VIDIMUS_URL, VIDIMUS_API_KEY } = process.env
for (const secret of [CLIENT_SECRET, SUBJECT_SECRET])
  if (!secret || secret.length < 32) throw new Error('secrets need 32 characters')
// Anybody can begin a login, and each counts against the shop's daily quota: 200 an hour are at most half of a standard one.
const LOGINS_PER_HOUR = Number(process.env.LOGINS_PER_HOUR || 200)
if (!(LOGINS_PER_HOUR >= 1)) throw new Error('LOGINS_PER_HOUR needs a number')
const SUBJECT_CLAIMS = ['family_name', 'given_name', 'birthdate']
const LOGIN_MS = 10 * 60_000
const CODE_MS = 60_000
const BASE = 'http://localhost'
const BODY_BYTES_MAX = 16 * 1024

const vidimus = createClient({ baseUrl: VIDIMUS_URL, apiKey: VIDIMUS_API_KEY })
// A key for this run only: an ID token is read within seconds, and Keycloak asks for keys that it does not know.
const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
const kid = token()
const mayBegin = allowance(LOGINS_PER_HOUR, 60 * 60_000)
const logins = expiring(LOGIN_MS)
const codes = expiring(CODE_MS)

createServer(async (request, response) => {
  // A path such as // is no address; what is thrown here would end the process.
  const url = new URL(URL.canParse(request.url, BASE) ? request.url : '', BASE)
  const reply = (status, body, headers = {}) => {
    const type = typeof body === 'string' ? 'text/html; charset=utf-8' : 'application/json'
    response.writeHead(status, {
      'content-type': type,
      'cache-control': 'no-store',
      'referrer-policy': 'no-referrer',
      ...headers,
    })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
  const route = ROUTES[`${request.method} ${url.pathname}`]
  if (!route) return reply(404, { error: 'not_found' })
  try {
    await route({ request, query: url.searchParams, reply, body: await read(request) })
  } catch (error) {
    process.stderr.write(`${error instanceof VidimusError ? `${error.code} ${error.requestId}` : error.message}\n`)
    if (!response.headersSent) reply(500, { error: 'server_error' })
  }
}).listen(Number(PORT), process.env.HOST, () => process.stdout.write(`listening on port ${PORT} for ${PUBLIC_URL}\n`))

const ROUTES = {
  'GET /.well-known/openid-configuration': ({ reply }) =>
    reply(200, {
      issuer: PUBLIC_URL,
      authorization_endpoint: `${PUBLIC_URL}/authorize`,
      token_endpoint: `${PUBLIC_URL}/token`,
      jwks_uri: `${PUBLIC_URL}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['pairwise'],
      id_token_signing_alg_values_supported: ['ES256'],
      token_endpoint_auth_methods_supported: ['client_secret_post', 'client_secret_basic'],
      code_challenge_methods_supported: ['S256'],
    }),

  'GET /jwks': ({ reply }) => reply(200, { keys: [{ ...publicKey.export({ format: 'jwk' }), kid, alg: 'ES256', use: 'sig' }] }),

  'GET /authorize': async ({ query, reply }) => {
    const asked = Object.fromEntries(query)
    // Never redirect to an address that is not the client's own.
    if (asked.client_id !== CLIENT_ID || asked.redirect_uri !== REDIRECT_URI) return reply(400, { error: 'invalid_client' })
    if (asked.response_type !== 'code' || !asked.state || asked.code_challenge_method !== 'S256' || !asked.code_challenge)
      return reply(302, '', { location: backToClient({ error: 'invalid_request', state: asked.state ?? '' }) })
    if (!mayBegin()) return reply(302, '', { location: backToClient({ error: 'temporarily_unavailable', state: asked.state }) })
    const { id, pageUrl } = await vidimus.verifications.create({
      template: 'identity_basic',
      purpose: 'To log you in',
      ttl_seconds: LOGIN_MS / 1000,
      redirect_url: `${PUBLIC_URL}/return`,
      // A login that somebody else started is worth nothing to them: the result comes with the redirect alone.
      release: 'on_redeem',
    })
    const login = logins.add({ id, state: asked.state, nonce: asked.nonce, challenge: asked.code_challenge })
    const cookie = `__Host-login=${login}; Path=/; Secure; HttpOnly; SameSite=Lax; Max-Age=${LOGIN_MS / 1000}`
    reply(302, '', { location: pageUrl, 'set-cookie': cookie })
  },

  'GET /return': ({ reply }) => reply(200, PAGE, { 'content-security-policy': PAGE_POLICY }),

  // The code of the redirect, and the cookie of the browser that began: both, or nobody is logged in.
  'POST /return': async ({ request, reply, body }) => {
    const login = logins.take(/(?:^|; )__Host-login=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1])
    if (!login) return reply(400, { error: 'This login has ended, or was begun in another browser. Begin again here.' })
    const { response_code: responseCode } = JSON.parse(body)
    const verification = await vidimus.verifications.redeem(login.id, String(responseCode)).catch(error => {
      if (error.code === 'invalid_response_code' || error.code === 'invalid_request') return undefined
      throw error
    })
    await erase(login.id)
    const claims = verification?.status === 'completed' ? verification.claims : undefined
    if (!SUBJECT_CLAIMS.every(name => typeof claims?.[name] === 'string'))
      return reply(200, { location: backToClient({ error: 'access_denied', state: login.state }) })
    const code = codes.add({ ...login, claims: Object.fromEntries(SUBJECT_CLAIMS.map(name => [name, claims[name]])) })
    reply(200, { location: backToClient({ code, state: login.state }) })
  },

  'POST /token': ({ request, reply, body }) => {
    const form = new URLSearchParams(body.toString())
    const [id, secret] = clientOf(request, form)
    if (!isEqual(id, CLIENT_ID) || !isEqual(secret, CLIENT_SECRET)) return reply(401, { error: 'invalid_client' })
    const login = form.get('grant_type') === 'authorization_code' ? codes.take(form.get('code')) : undefined
    const challenge = createHash('sha256')
      .update(form.get('code_verifier') ?? '')
      .digest('base64url')
    if (!login || form.get('redirect_uri') !== REDIRECT_URI || !isEqual(challenge, login.challenge))
      return reply(400, { error: 'invalid_grant' })
    reply(200, { access_token: token(), token_type: 'Bearer', expires_in: CODE_MS / 1000, id_token: idToken(login) })
  },
}

function idToken({ nonce, claims }) {
  const now = Math.floor(Date.now() / 1000)
  // A pseudonym of its own for this bridge. Two people of one name, born on one day, would be one.
  const sub = createHmac('sha256', SUBJECT_SECRET)
    .update(JSON.stringify(SUBJECT_CLAIMS.map(name => claims[name].normalize('NFC'))))
    .digest('base64url')
  const payload = { iss: PUBLIC_URL, sub, aud: CLIENT_ID, iat: now, exp: now + 120, ...(nonce && { nonce }), ...claims }
  const signed = [{ alg: 'ES256', typ: 'JWT', kid }, payload]
    .map(part => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${sign('sha256', Buffer.from(signed), { key: privateKey, dsaEncoding: 'ieee-p1363' }).toString('base64url')}`
}

const erase = id =>
  vidimus.verifications.erase(id).catch(error => {
    if (error.code !== 'session_not_found') throw error
  })

const backToClient = answer => `${REDIRECT_URI}?${new URLSearchParams(answer)}`

function clientOf({ headers }, form) {
  const basic = /^Basic (.+)$/i.exec(headers.authorization ?? '')?.[1]
  if (!basic) return [form.get('client_id'), form.get('client_secret')]
  const [id = '', secret = ''] = Buffer.from(basic, 'base64').toString().split(':', 2)
  return [id, secret].map(part => new URLSearchParams(`v=${part}`).get('v'))
}

/** Values remembered for a while, each under a name that nobody guesses, and taken once. */
function expiring(ms) {
  const kept = new Map()
  return {
    add(value) {
      const name = token()
      kept.set(name, value)
      setTimeout(() => kept.delete(name), ms).unref()
      return name
    },
    take(name) {
      const value = kept.get(name)
      kept.delete(name)
      return value
    },
  }
}

/** True `count` times at once, and then as often as `count` in `ms` allows. */
function allowance(count, ms) {
  let [left, at] = [count, performance.now()]
  return () => {
    const now = performance.now()
    left = Math.min(count, left + ((now - at) * count) / ms)
    at = now
    if (left < 1) return false
    left--
    return true
  }
}

function token() {
  return randomBytes(32).toString('base64url')
}

function isEqual(given, expected) {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

async function read(request) {
  const chunks = []
  let bytes = 0
  for await (const chunk of request) {
    bytes += chunk.length
    if (bytes > BODY_BYTES_MAX) throw new Error('a body too large')
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}

// The code comes in the fragment, which no server sees: so the page hands it over.
const SCRIPT = `
const code = new URLSearchParams(location.hash.slice(1)).get('response_code')
history.replaceState(null, '', location.pathname)
const say = text => { document.querySelector('p').textContent = text }
if (!code) say('Begin the login on the phone that has your wallet.')
else {
  const answer = await fetch('/return', { method: 'POST', body: JSON.stringify({ response_code: code }) })
  const { location: next, error } = await answer.json()
  if (next) location.replace(next)
  else say(error)
}
`
const PAGE = `<!doctype html><meta name="viewport" content="width=device-width"><title>Log in</title><p>One moment…</p><script type="module">${SCRIPT}</script>`
const PAGE_POLICY = `default-src 'none'; connect-src 'self'; script-src 'sha256-${createHash('sha256').update(SCRIPT).digest('base64')}'`
