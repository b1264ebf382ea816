// Holds orders of a Shopify shop until an age is shown. It keeps no state: the Idempotency-Key of an attempt finds its
// session again, and the order has its id in the metafield vidimus.age_check_session. Only that session releases the
// order: whoever has a key can write the number of an order into the metadata of another session.
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'
import { createClient, VidimusError } from '../client.ts'
import { verifyWebhook, WebhookError } from '../webhook.ts'

const { PORT, PUBLIC_URL, SHOP, SHOPIFY_SECRET, SHOPIFY_TOKEN, VIDIMUS_URL, VIDIMUS_API_KEY, VIDIMUS_WEBHOOK_SECRET } =
  process.env
// An empty secret would let everybody sign.
if (!SHOP || !SHOPIFY_SECRET || !SHOPIFY_TOKEN || !PUBLIC_URL)
  throw new Error('set SHOP, SHOPIFY_SECRET, SHOPIFY_TOKEN and PUBLIC_URL')
const ADMIN_URL = process.env.SHOPIFY_ADMIN_URL ?? `https://${SHOP}/admin/api/2026-04/graphql.json`
const HANDLE = 'vidimus-age'
const ATTEMPTS_MAX = 5
const BASE = 'http://localhost'
const BODY_BYTES_MAX = 1024 * 1024

const vidimus = createClient({ baseUrl: VIDIMUS_URL, apiKey: VIDIMUS_API_KEY })

createServer(async (request, response) => {
  // A path such as // is no address; what is thrown here would end the process.
  const url = new URL(URL.canParse(request.url, BASE) ? request.url : '', BASE)
  const route = ROUTES[`${request.method} ${url.pathname}`]
  const reply = (status, text = '', type = 'text/html') => {
    const headers = { 'content-type': `${type}; charset=utf-8`, 'cache-control': 'no-store', 'content-security-policy': POLICY }
    response.writeHead(status, headers).end(text)
  }
  if (!route) return reply(404)
  try {
    await route({ request, url, reply, body: await read(request) })
  } catch (error) {
    // Both sides repeat a webhook that got no 2xx.
    process.stderr.write(`${error instanceof VidimusError ? `${error.code} ${error.requestId}` : error.message}\n`)
    if (!response.headersSent) reply(500)
  }
}).listen(Number(PORT), process.env.HOST, () => process.stdout.write(`listening on port ${PORT} for ${PUBLIC_URL}\n`))

const ROUTES = {
  'POST /shopify/orders-create': async ({ request, reply, body }) => {
    const expected = createHmac('sha256', SHOPIFY_SECRET).update(body).digest('base64')
    if (!isEqual(request.headers['x-shopify-hmac-sha256'], expected) || request.headers['x-shopify-shop-domain'] !== SHOP)
      return reply(401)
    const { id, line_items } = JSON.parse(body)
    if (line_items.some(({ sku }) => sku?.startsWith('18-'))) await hold(id)
    reply(200)
  },

  // Through the app proxy, which signs what it forwards.
  'GET /age': async ({ request, url, reply }) => {
    const order = orderOf(url)
    if (!order) return reply(401)
    const lang = /^de\b/i.test(request.headers['accept-language'] ?? '') ? 'de' : 'en'
    const { tags } = await readOrder(order)
    if (tags.includes('age-confirmed')) return reply(200, page(lang, 'confirmed'))
    const session = await currentSession(order)
    if (!session) return reply(429, page(lang, 'tooMany'))
    if (session.status === 'pending') return reply(200, page(lang, 'ask', session.id))
    // Answered by QR code, or its code was lost on the way.
    const isReleased = await settle(session, () => {})
    reply(200, page(lang, isReleased ? 'confirmed' : 'refused'))
  },
  'GET /age/page.js': ({ reply }) => reply(200, SCRIPT, 'text/javascript'),
  'POST /age': async ({ url, reply, body }) => {
    const order = orderOf(url)
    if (!order) return reply(401)
    const session = await currentSession(order)
    const { response_code: code } = JSON.parse(body)
    if (!session || typeof code !== 'string') return reply(422)
    // Spent by its first use: the client never sends it twice. If the answer is lost, the webhook brings the result.
    const verification = await vidimus.verifications.redeem(session.id, code).catch(error => {
      if (error.code === 'invalid_response_code' || error.code === 'invalid_request') return undefined
      throw error
    })
    if (!verification) return reply(422)
    await settle(verification, () => reply(204))
  },

  'POST /vidimus': async ({ request, reply, body }) => {
    try {
      const { verification } = await verifyWebhook({
        payload: body,
        header: request.headers['x-service-signature'],
        secret: VIDIMUS_WEBHOOK_SECRET,
      })
      await settle(verification, () => reply(204))
    } catch (error) {
      if (!(error instanceof WebhookError)) throw error
      reply(400)
    }
  },
}

/** The order of a link that we made, forwarded by the shop. */
function orderOf({ searchParams }) {
  const names = [...new Set(searchParams.keys())].filter(name => name !== 'signature')
  const signed = names
    .map(name => `${name}=${searchParams.getAll(name).join(',')}`)
    .sort()
    .join('')
  const expected = createHmac('sha256', SHOPIFY_SECRET).update(signed).digest('hex')
  const order = searchParams.get('order') ?? ''
  return isEqual(searchParams.get('signature'), expected) && isEqual(searchParams.get('token'), tokenOf(order))
    ? order
    : undefined
}

/** Numbers of orders can be guessed; links cannot. */
const tokenOf = order => createHmac('sha256', SHOPIFY_SECRET).update(`vidimus age check ${order}`).digest('hex')

const linkOf = order => `https://${SHOP}/apps/age?order=${order}&token=${tokenOf(order)}`

/** The session that is pending or has a yes; after one that failed or expired another, up to a few a day. */
async function currentSession(order) {
  for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt++) {
    const body = {
      template: 'age_over_18',
      purpose: 'To send you what you ordered',
      ttl_seconds: 3600,
      webhook_url: `${PUBLIC_URL}/vidimus`,
      redirect_url: linkOf(order),
      metadata: { order },
    }
    // The same key gives the same session for 24 hours, however often the page is opened.
    const made = await vidimus.verifications.create(body, { idempotencyKey: `shopify-${order}-${attempt}` }).catch(error => {
      // The session that this key made is erased: the order was settled.
      if (error.code === 'idempotency_key_reused') return undefined
      throw error
    })
    if (!made) return undefined
    const session = await vidimus.verifications.get(made.id)
    if (session.status !== 'pending' && session.status !== 'completed') continue
    await setMetafield(order, 'age_check_session', 'single_line_text_field', session.id)
    return session
  }
}

/**
 * Releases the order for a yes of the session that was made for it, and for nothing else; true if it did. `done` is
 * called before the erasure: a webhook wants its answer quickly.
 */
async function settle({ id, status, claims, metadata }, done) {
  if (!metadata?.order || status !== 'completed' || claims?.age_over_18 !== true) return done()
  const { session } = await readOrder(metadata.order)
  // Metadata is what somebody with a key wrote there; the id is what we made.
  if (!isEqual(session?.value, id)) return done()
  await release(metadata.order)
  done()
  await vidimus.verifications.erase(id).catch(error => {
    if (error.code !== 'session_not_found') throw error
  })
  return true
}

async function hold(order) {
  const { fulfillmentOrders } = await readOrder(order)
  // Not there yet: the webhook comes again.
  if (fulfillmentOrders.nodes.length === 0) throw new Error('no fulfillment orders yet')
  for (const { id, fulfillmentHolds } of fulfillmentOrders.nodes) {
    if (fulfillmentHolds.some(({ handle }) => handle === HANDLE)) continue
    const hold = { reason: 'OTHER', reasonNotes: 'Waits for an age check', handle: HANDLE }
    await admin(
      'mutation ($id: ID!, $hold: FulfillmentOrderHoldInput!) { fulfillmentOrderHold(id: $id, fulfillmentHold: $hold) { userErrors { message } } }',
      { id, hold },
    )
  }
  await setMetafield(order, 'age_check_url', 'url', linkOf(order))
}

async function setMetafield(order, key, type, value) {
  const field = { ownerId: gid(order), namespace: 'vidimus', key, type, value }
  await admin('mutation ($fields: [MetafieldsSetInput!]!) { metafieldsSet(metafields: $fields) { userErrors { message } } }', {
    fields: [field],
  })
}

async function release(order) {
  const { fulfillmentOrders } = await readOrder(order)
  for (const { id, fulfillmentHolds } of fulfillmentOrders.nodes) {
    // Ours alone: others may hold it for reasons of their own.
    const holdIds = fulfillmentHolds.filter(({ handle }) => handle === HANDLE).map(hold => hold.id)
    if (holdIds.length === 0) continue
    await admin(
      'mutation ($id: ID!, $holdIds: [ID!]) { fulfillmentOrderReleaseHold(id: $id, holdIds: $holdIds) { userErrors { message } } }',
      { id, holdIds },
    )
  }
  await admin('mutation ($id: ID!, $tags: [String!]!) { tagsAdd(id: $id, tags: $tags) { userErrors { message } } }', {
    id: gid(order),
    tags: ['age-confirmed'],
  })
}

async function readOrder(order) {
  const fields =
    'tags session: metafield(namespace: "vidimus", key: "age_check_session") { value } fulfillmentOrders(first: 50) { nodes { id fulfillmentHolds { id handle } } }'
  const query = `query ($id: ID!) { order(id: $id) { ${fields} } }`
  const { order: found } = await admin(query, { id: gid(order) })
  if (!found) throw new Error('no such order')
  return found
}

const gid = order => `gid://shopify/Order/${order}`

async function admin(query, variables) {
  const response = await fetch(ADMIN_URL, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-shopify-access-token': SHOPIFY_TOKEN },
    body: JSON.stringify({ query, variables }),
    redirect: 'error',
    signal: AbortSignal.timeout(4000),
  })
  const { data, errors } = await response.json()
  const problems = [...(errors ?? []), ...Object.values(data ?? {}).flatMap(each => each?.userErrors ?? [])]
  if (!response.ok || problems.length > 0)
    throw new Error(`Shopify: ${response.status} ${problems.map(({ message }) => message).join(', ')}`)
  return data
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

function isEqual(given, expected) {
  const [a, b] = [Buffer.from(given ?? ''), Buffer.from(expected)]
  return a.length === b.length && timingSafeEqual(a, b)
}

const SERVICE = new URL(VIDIMUS_URL).origin
// The wallet call is not offered in a frame.
const POLICY = `default-src 'none'; script-src 'self' ${SERVICE}; connect-src 'self' ${SERVICE}; base-uri 'none'; frame-ancestors 'none'`
const SANDBOX = VIDIMUS_API_KEY.startsWith('vk_test_') ? ' sandbox' : ''

const WORDS = {
  en: {
    title: 'Age check',
    ask: 'Your order is sent as soon as your identity wallet has confirmed your age.',
    confirmed: 'Your age is confirmed.',
    refused: 'This proof was refused.',
    tooMany: 'Too many attempts. Please try again tomorrow.',
  },
  de: {
    title: 'Altersprüfung',
    ask: 'Wir versenden Ihre Bestellung, sobald Ihre Identitäts-Wallet Ihr Alter bestätigt hat.',
    confirmed: 'Ihr Alter ist bestätigt.',
    refused: 'Dieser Nachweis wurde abgelehnt.',
    tooMany: 'Zu viele Versuche. Bitte versuchen Sie es morgen noch einmal.',
  },
}

/** The shop shows it under its own origin, so scripts have addresses of the shop. */
const page = (lang, text, session) => `<!doctype html>
<html lang="${lang}"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${WORDS[lang].title}</title>
<main><h1>${WORDS[lang].title}</h1><p>${WORDS[lang][text]}</p>${session ? elementOf(session) : ''}</main></html>`

const elementOf = session => `<vidimus-verify session="${session}"${SANDBOX}></vidimus-verify>
<script type="module" src="${VIDIMUS_URL}/verify.js"></script><script type="module" src="/apps/age/page.js"></script>`

const SCRIPT = `const redeem = async code => {
  await fetch(location.href, { method: 'POST', body: JSON.stringify({ response_code: code }) })
  location.reload()
}
addEventListener('vidimus-answered', ({ detail }) => (detail.response_code ? redeem(detail.response_code) : location.reload()))
addEventListener('vidimus-error', ({ detail }) => detail.reason === 'expired' && location.reload())
// Back from the hosted page: the code is in the fragment, which no server sees.
const code = new URLSearchParams(location.hash.slice(1)).get('response_code')
if (code) {
  history.replaceState(null, '', location.pathname + location.search)
  redeem(code)
}
`
