// A page without a server of its own, with oidc-client-ts: what a shop's single-page app does.
import { UserManager } from 'oidc-client-ts'

const { authority = '', clientId = '' } = document.currentScript?.dataset ?? {}

const manager = new UserManager({
  authority,
  client_id: clientId,
  redirect_uri: `${location.origin}/callback`,
  scope: 'openid',
  loadUserInfo: true,
})

const show = (answer: object) => {
  document.querySelector('output')!.textContent = JSON.stringify(answer)
}

document.querySelector('button')!.addEventListener('click', () => void manager.signinRedirect())

if (location.pathname === '/callback')
  manager
    .signinRedirectCallback()
    .then(({ profile }) => show(profile))
    .catch(({ name, error, message }) => show({ refused: name, error, message }))
