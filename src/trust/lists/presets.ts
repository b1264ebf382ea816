// Public lists that many shops need, by a short name. A pin is carried only after it was compared with its operator's own
// publication: the Official Journal, the eIDAS Dashboard, the operator's site. `compareAt` says where.
import type { ListKind } from '../../trust-lists/list.ts'
import type { SourceRow } from './source.ts'

export type Preset = {
  environment: SourceRow['environment']
  kind: ListKind
  use: SourceRow['use']
  label: string
  location: string
  /** The end of the list's own type: one signer may sign several lists. */
  listType?: string
  /** The types of documents it names issuers for. */
  types: readonly string[]
  /** Fingerprints. */
  pins: readonly string[]
  /** The address where the operator publishes who signs it. */
  compareAt: string
  /** Terms that must be read before its use. */
  terms?: string
}

const ACCEPTANCE = 'https://acceptance.trust.tech.ec.europa.eu/lists'
const PRODUCTION = 'https://trust.tech.ec.europa.eu/lists'
const DASHBOARD = 'the eIDAS Dashboard (https://eidas.ec.europa.eu/efda) or the Official Journal'
const ACCEPTANCE_NOTES = "the Commission's notes on its acceptance environment"

const AGE = {
  kind: 'etsi-xml',
  use: 'issuers',
  listType: '/lists/age-verification/tsl-type',
  types: ['eu.europa.ec.av.1'],
} as const
const PID = {
  kind: 'lote',
  use: 'issuers',
  listType: '/LoTEType/EUPIDProvidersList',
  types: ['urn:eudi:pid:1', 'eu.europa.ec.eudi.pid.1'],
} as const
const MDL = {
  kind: 'lote',
  use: 'issuers',
  listType: '/lists/mDL/mDLProvidersListType',
  types: ['org.iso.18013.5.1.mDL'],
} as const

export const PRESETS = {
  'eu-av-acceptance': {
    ...AGE,
    environment: 'test',
    label: 'EU age verification (acceptance)',
    location: `${ACCEPTANCE}/age-verification/av-tl.xml`,
    // Seen in the list of July 2026, number 17; it ends on 2028-11-20.
    pins: ['0ccf87a5abf4db89bde4e10202e2523296bea7d835ba6a5a41054b9e1e6b8949'],
    compareAt: ACCEPTANCE_NOTES,
  },
  'eu-av': {
    ...AGE,
    environment: 'live',
    label: 'EU age verification',
    location: `${PRODUCTION}/age-verification/av-tl.xml`,
    pins: [],
    compareAt: DASHBOARD,
  },
  'eu-pid-acceptance': {
    ...PID,
    environment: 'test',
    label: 'EU PID providers (acceptance)',
    location: `${ACCEPTANCE}/eudiw/pid-providers.json`,
    pins: [],
    compareAt: ACCEPTANCE_NOTES,
  },
  'eu-pid': {
    ...PID,
    environment: 'live',
    label: 'EU PID providers',
    location: `${PRODUCTION}/eudiw/pid-providers.json`,
    pins: [],
    compareAt: DASHBOARD,
  },
  'eu-mdl-acceptance': {
    ...MDL,
    environment: 'test',
    label: 'EU driving licences (acceptance)',
    location: `${ACCEPTANCE}/eudiw/mdl-providers.json`,
    pins: [],
    compareAt: ACCEPTANCE_NOTES,
  },
  'eu-mdl': {
    ...MDL,
    environment: 'live',
    label: 'EU driving licences',
    location: `${PRODUCTION}/eudiw/mdl-providers.json`,
    pins: [],
    compareAt: DASHBOARD,
  },
  'eu-wrpac': {
    kind: 'lote',
    use: 'relying_party',
    listType: '/LoTEType/EUWRPACProvidersList',
    types: [],
    environment: 'live',
    label: 'EU access certificates',
    location: `${PRODUCTION}/eudiw/wrpac-providers.json`,
    pins: [],
    compareAt: DASHBOARD,
  },
  'de-sandbox-pid': {
    ...PID,
    environment: 'test',
    label: 'German sandbox, PID',
    location: 'https://bmi.usercontent.opencode.de/eudi-wallet/test-trust-lists/pid-provider.jwt',
    pins: [],
    compareAt: 'the pages of the German sandbox (https://bmi.usercontent.opencode.de/eudi-wallet)',
  },
  aamva: {
    environment: 'live',
    kind: 'vical',
    use: 'issuers',
    label: 'AAMVA driving licences',
    location: 'https://vical.dts.aamva.org/vical/vc',
    types: ['org.iso.18013.5.1.mDL'],
    pins: [],
    compareAt: "AAMVA's own page (https://vical.dts.aamva.org/certificates/ca)",
    terms: 'https://vical.dts.aamva.org',
  },
} as const satisfies Record<string, Preset>

type PresetName = keyof typeof PRESETS

export const PRESET_NAMES = Object.keys(PRESETS) as PresetName[]

export const presetOf = (name: string): Preset | undefined =>
  Object.hasOwn(PRESETS, name) ? PRESETS[name as PresetName] : undefined

/** The preset of an environment that names issuers for a type. */
export const presetFor = (environment: SourceRow['environment'], type: string): PresetName | undefined =>
  PRESET_NAMES.find(
    name => PRESETS[name].environment === environment && (PRESETS[name].types as readonly string[]).includes(type),
  )
