// Where a wallet may send people afterwards: a web page, or an app; nothing that runs, reads files, or starts something else.
import { beforeAll, expect, test } from 'bun:test'
import { type ErrorBody, startApp, type TestApp } from '../helpers/app.ts'

let app: TestApp
let key: string

beforeAll(async () => {
  app = await startApp()
  ;({ key } = await app.tenant())
})

const create = (redirect_url: string) =>
  app.call<ErrorBody>('POST', '/v1/verifications', { key, body: { template: 'age_over_18', redirect_url } })

test.each([
  'javascript:alert(1)',
  'JavaScript:alert(1)',
  'data:text/html,x',
  'vbscript:x',
  'file:///etc/passwd',
  'filesystem:https://shop.example/temporary/x',
  'blob:https://shop.example/x',
  'about:blank',
  'view-source:https://shop.example/',
  'jar:https://shop.example/x.jar!/x',
  'intent://shop.example/#Intent;scheme=https;end',
  'ftp://shop.example/done',
  'FTP://shop.example/done',
  'ws://shop.example/done',
  'wss://shop.example/done',
  'mailto:till@shop.example',
  'tel:+4930123456',
  'sms:+4930123456',
])('a redirect_url that is %j is 400 invalid_request', async url => {
  const { status, body } = await create(url)
  expect([status, body.error?.code]).toEqual([400, 'invalid_request'])
  expect(body.error.message).toBe("redirect_url: use https, http, or your app's own scheme")
})

test.each(['https://shop.example/done', 'http://till.local/done', 'shop-app://done', 'com.example.shop:/done'])(
  'a redirect_url that is %j is taken',
  async url => {
    expect((await create(url)).status).toBe(201)
  },
)
