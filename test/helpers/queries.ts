// Queries by format for tests about presentations, and the claims that a forged credential shows for them.
import { MDL, MDL_NAMESPACE, PID } from './forger.ts'
import type { FormatChoice } from './wallet.ts'

type Path = (string | number | null)[]
export type CredentialQuery = { id: string; format: string; meta: object; claims: { path: Path }[]; [more: string]: unknown }

export const sdJwtQuery = (id: string, paths: Path[], more: object = {}): CredentialQuery => ({
  id,
  format: 'dc+sd-jwt',
  meta: { vct_values: [PID] },
  claims: paths.map(path => ({ path })),
  ...more,
})
export const mdocQuery = (id: string, paths: Path[], more: object = {}): CredentialQuery => ({
  id,
  format: 'mso_mdoc',
  meta: { doctype_value: MDL },
  claims: paths.map(path => ({ path })),
  ...more,
})

const NAMES = ['family_name', 'given_name']

export const QUERIES: Record<FormatChoice, object> = {
  'dc+sd-jwt': {
    query: {
      credentials: [
        sdJwtQuery(
          'pid',
          NAMES.map(name => [name]),
        ),
      ],
    },
  },
  mso_mdoc: {
    query: {
      credentials: [
        mdocQuery(
          'mdl',
          NAMES.map(name => [MDL_NAMESPACE, name]),
        ),
      ],
    },
  },
}

export const FORMATS = Object.keys(QUERIES) as FormatChoice[]
export const CLAIMS = { family_name: 'Mustermann', given_name: 'Erika' }

export const accept = (format: FormatChoice) => (credential: { format: string }) => credential.format === format
