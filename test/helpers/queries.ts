// Queries by format for tests about presentations, and the claims that a forged credential shows for them.
import { MDL_NAMESPACE } from './forger.ts'
import type { FormatChoice } from './wallet.ts'

export const QUERIES: Record<FormatChoice, object> = {
  'dc+sd-jwt': {
    query: {
      credentials: [
        {
          id: 'pid',
          format: 'dc+sd-jwt',
          meta: { vct_values: ['urn:eudi:pid:1'] },
          claims: [{ path: ['family_name'] }, { path: ['given_name'] }],
        },
      ],
    },
  },
  mso_mdoc: {
    query: {
      credentials: [
        {
          id: 'mdl',
          format: 'mso_mdoc',
          meta: { doctype_value: 'org.iso.18013.5.1.mDL' },
          claims: [{ path: [MDL_NAMESPACE, 'family_name'] }, { path: [MDL_NAMESPACE, 'given_name'] }],
        },
      ],
    },
  },
}

export const FORMATS = Object.keys(QUERIES) as FormatChoice[]
export const CLAIMS = { family_name: 'Mustermann', given_name: 'Erika' }

export const accept = (format: FormatChoice) => (credential: { format: string }) => credential.format === format
