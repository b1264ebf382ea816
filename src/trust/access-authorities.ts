import { listRelyingPartyAnchors } from './access-store.ts'
import type { Deps } from './deps.ts'

/** Authorities that issue access certificates to relying parties, from the lists for that use; PEM. */
export const readAccessAuthorities = async ({ db }: Pick<Deps, 'db'>): Promise<string[]> =>
  (await listRelyingPartyAnchors(db)).flatMap(({ certificate, service }) => (ACCESS.test(service ?? '') ? [certificate] : []))

/** ETSI TS 119 602 annex F; lists for that use may also name registrars. */
const ACCESS = /\/SvcType\/WRPAC\/Issuance$/
