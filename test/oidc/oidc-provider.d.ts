// The package brings no types; this is what the tests use of it.
declare module 'oidc-provider' {
  import type { RequestListener } from 'node:http'

  type Saved = { save(): Promise<string> }

  export default class Provider {
    constructor(issuer: string, configuration: object)
    callback(): RequestListener
    Client: { find(id: string): Promise<object | undefined> }
    Grant: new (
      values: object,
    ) => Saved & { addOIDCScope(scope: string): void }
    AuthorizationCode: new (
      values: object,
    ) => Saved
  }
}
