import type { CreateClient } from '../../../../dashboard/developers/log-ins/schema.ts'

type Settings = Pick<CreateClient, 'auth' | 'pkce' | 'id_token_claims'> & {
  /** How its redirect address looks. */ redirect: string
}

const WITH_PKCE = { auth: 'client_secret', pkce: 'required', id_token_claims: false } as const
const WITHOUT_PKCE = { ...WITH_PKCE, pkce: 'optional' } as const

/** What people log in to, by the settings that it needs. */
export const PROGRAMS = {
  own: { ...WITH_PKCE, redirect: 'http://localhost:8080/callback' },
  app: { ...WITH_PKCE, auth: 'none', redirect: 'http://127.0.0.1/callback' },
  keycloak: { ...WITH_PKCE, redirect: 'https://login.example/realms/shop/broker/vidimus/endpoint' },
  nextcloud: { ...WITHOUT_PKCE, id_token_claims: true, redirect: 'https://cloud.example/apps/user_oidc/code' },
  wordpress: { ...WITHOUT_PKCE, redirect: 'https://blog.example/wp-admin/admin-ajax.php?action=openid-connect-authorize' },
  gitea: { ...WITHOUT_PKCE, redirect: 'https://git.example/user/oauth2/vidimus/callback' },
  discourse: { ...WITHOUT_PKCE, redirect: 'https://forum.example/auth/oidc/callback' },
  'oauth2-proxy': { ...WITH_PKCE, id_token_claims: true, redirect: 'https://app.example/oauth2/callback' },
  apache: { ...WITH_PKCE, redirect: 'https://app.example/oidc/callback' },
} as const satisfies Record<string, Settings>

export type Program = keyof typeof PROGRAMS
