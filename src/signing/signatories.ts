// Who signs a request by ISO/IEC 18013-5, in person or through a browser: the access certificate that signs requests of OpenID4VP
// too, which EU wallets want (ETSI TS 119 472-2), or reader certificates. What it signs in a JWS cannot be taken for COSE: a JWS is
// over text, a Sig_structure begins with two bytes that no text has.
import type { Configured } from '../ground.ts'
import type { DcqlQuery } from '../openid4vp/dcql/dcql.ts'
import type { Reader, Signatories } from '../openid4vp/exchange/reader-auth.ts'
import type { Profile } from '../openid4vp/exchange/request-object.ts'
import type { RequestSigners } from './keys.ts'
import type { Readers } from './readers.ts'

type Session = { tenantId: string; signingKeyId: string; profile: Profile }

type SignatoryDeps = Configured & { readers: Readers; requestSigner: RequestSigners }

const NOBODY: Signatories = { all: [] }

/** As VIDIMUS_READER_AUTH says. */
export async function signatoriesOf(
  deps: SignatoryDeps,
  session: Session,
  query: DcqlQuery,
  channel: 'browser' | 'in_person',
): Promise<Signatories> {
  // The EU age app takes no reader's identity.
  if (session.profile === 'eu-av') return NOBODY
  const { readerAuth: mode } = deps.config
  const readers = await deps.readers(session.tenantId)
  const access = mode === 'reader' || mode === 'none' ? undefined : await accessOf(deps, session)
  const newest = readers.at(-1)
  const each = {
    auto: access && (isForEuWallets(query) || !newest) ? access : channel === 'in_person' ? newest : undefined,
    access,
    reader: newest,
    none: undefined,
  }[mode]
  if (mode === 'reader') return { each, all: [] }
  // Browsers' wallets know signatures over the whole from the first.
  if (!each) return channel === 'browser' && mode !== 'access' ? { all: readers } : NOBODY
  const others = readers.filter(reader => reader !== each)
  return { each, all: others.length > 0 ? [each, ...others] : [] }
}

/** Undefined for a certificate that was made here: no wallet knows its authority. */
async function accessOf({ requestSigner }: SignatoryDeps, { signingKeyId }: Session): Promise<Reader | undefined> {
  const { privateKey, chain, isSelfMade } = await requestSigner(signingKeyId)
  return isSelfMade ? undefined : { privateKey, chain: chain.map(der => Buffer.from(der, 'base64')) }
}

const isForEuWallets = ({ credentials }: DcqlQuery): boolean =>
  credentials.some(({ format, meta }) => format === 'mso_mdoc' && meta.doctype_value.startsWith('eu.europa.ec.'))
