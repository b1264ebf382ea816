// Destinations of a redirect_url: a web page, or an app of the tenant; nothing that runs, reads files, or starts something else.
import { describe, expect, test } from 'bun:test'
import { readAppSchemes } from '../../src/tenants/app-schemes.ts'
import { changeTenant } from '../../src/tenants/settings.ts'
import { type ErrorBody, startWithTenant } from '../helpers/app.ts'
import { words } from '../helpers/words.ts'

const { app, id: tenantId, key } = await startWithTenant()

const create = (redirect_url: string, withKey = key) =>
  app.call<ErrorBody>('POST', '/v1/verifications', { key: withKey, body: { template: 'age_over_18', redirect_url } })

async function expectRefused(url: string, reason: string | RegExp) {
  const { status, body } = await create(url)
  expect([url, status, body.error?.code]).toEqual([url, 400, 'invalid_request'])
  expect(body.error.message).toMatch(reason)
}

describe('redirect_url', () => {
  const OTHER_SCHEMES = words(`
    javascript:alert(1) JavaScript:alert(1) data:text/html,x vbscript:x file:///etc/passwd
    filesystem:https://shop.example/temporary/x blob:https://shop.example/x about:blank
    view-source:https://shop.example/ jar:https://shop.example/x.jar!/x
    intent://shop.example/#Intent;scheme=https;end ftp://shop.example/done FTP://shop.example/done
    ws://shop.example/done wss://shop.example/done mailto:till@shop.example tel:+4930123456 sms:+4930123456
    smb://files.example/share ms-msdt:/id%20PCWDiagnostic search-ms:query=x feed:javascript:alert(1)
    itms-services://?action=download-manifest openid4vp://authorize
    x-apple.systempreferences:com.apple.preference.security com.apple.something:/x com.android.settings:/x
    vscode://file/x vscode-insiders:x jetbrains-toolbox:x steam://run/1 git://x svn+ssh://x zoommtg://x zoomus:x teams:x
    msteams:x teamviewer10://control tvcontrol1:x rustdesk://1 anydesk:1 citrixng:x otpauth://totp/x
    otpauth-migration:x bitcoin:1x lightning:x wifi:S:x com:x upi://pay tg://x whatsapp://send docker:x winscp-sftp:x
    javascript.shop:alert(1) JavaScript.x://x intent.shop://x data.shop:x vbscript.x:x vnd.youtube:x
    com.:x openid4vp.://authorize wifi..:x
  `)
  test.each(OTHER_SCHEMES)('%j is 400: browsers or systems give the scheme another meaning', async url => {
    await expectRefused(
      url,
      /^redirect_url: the scheme "[a-z0-9.+-]+" does not lead back to a shop or its app; use https, or your app's own scheme$/,
    )
  })

  test.each(['shop-app://done', 'shopapp:done', 'x:y'])(
    '%j is 400: an app scheme without a dot that the tenant has not listed',
    async url => {
      await expectRefused(
        url,
        /is not one of your app; use https, a scheme with a dot .* "vidimus tenant set ID --app-scheme NAME"$/,
      )
    },
  )

  const PUBLIC_HTTP = words(`
    http://shop.example/done http://93.184.215.14/done http://8.8.8.8/done http://[2606:2800:21f:cb07::1]/done
    http://localhost.shop.example/done http://notlocalhost/done http://till/done http://10.0.0.1.shop.example/done
    http://172.32.0.1/done http://169.254.169.254/done http://100.64.0.1/done http://0.0.0.0/done
  `)
  test.each(PUBLIC_HTTP)('%j is 400: http beyond localhost and private addresses', async url => {
    await expectRefused(url, 'redirect_url: use https; http is for localhost and private addresses only')
  })

  const WITH_USER = words(`
    https://user@shop.example/done https://user:secret@shop.example/done https://@shop.example/done
    https://:@shop.example/done http://shop.example@localhost/done com.example.shop://user@done
  `)
  test.each(WITH_USER)('%j is 400: it has user information', async url => {
    await expectRefused(url, 'redirect_url: leave out the user name and password before the @')
  })

  const TAKEN = words(`
    https://shop.example/done https://shop.example/done?to=a@b.example https://shop.example:8443/@me
    http://localhost/done http://LOCALHOST:4000/done http://shop.localhost/done http://till.local/done
    http://shop.home.arpa/done http://127.0.0.1:4000/done http://10.1.2.3/done http://172.31.0.1/done
    http://192.168.178.20/done http://[::1]:4000/done http://[fd00::1]/done com.example.shop:/done
    com.example.shop://done COM.example.Shop:/done app.shop:a@b com.applejuice.shop:/done com.gitshop:/done
    com.googleusercontent.apps.1-a:/done database.shop:/done intents.shop:/done
  `)
  test.each(TAKEN)('%j is taken', async url => {
    expect([(await create(url)).status, url]).toEqual([201, url])
  })

  test('a redirect_url may have a scheme of the tenant, from the next request after it is listed until it is removed', async () => {
    const other = await app.tenant({ name: 'Other shop' })
    expect((await create('shop-app://done')).status).toBe(400)
    await changeTenant(app.deps, tenantId, { appSchemes: ['shop-app', 'wine'] }, 'test')
    expect([(await create('shop-app://done')).status, (await create('WINE:done')).status]).toEqual([201, 201])
    expect((await create('shop-app://done', other.key)).status).toBe(400)
    expect((await create('winery:done')).status).toBe(400)
    await changeTenant(app.deps, tenantId, { appSchemes: null }, 'test')
    expect((await create('shop-app://done')).status).toBe(400)
  })

  test('a scheme of another program counts for nobody, even one that a tenant has listed before', async () => {
    await changeTenant(app.deps, tenantId, { appSchemes: ['vscode'] }, 'test')
    await expectRefused('vscode://done', /does not lead back to a shop or its app/)
    await changeTenant(app.deps, tenantId, { appSchemes: null }, 'test')
  })

  test.each(words('wine shop-app shopapp bakery vidimus-shop codebakery steamhouse teamshop gitterbett'))(
    '%s can be listed',
    name => {
      expect(readAppSchemes([name])).toEqual([name])
    },
  )
})
