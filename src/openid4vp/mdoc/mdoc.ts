// Reads one mdoc from a DeviceResponse (ISO/IEC 18013-5 § 8.3.2.1.2.2) and checks it by itself.
// Trust in the issuer, revocation and the query are checked elsewhere.
import { decodeBase64url } from '../../base/base64url.ts'
import { parseCbor } from '../cbor/cbor.ts'
import { CborError, type CborItem } from '../cbor/item.ts'
import type { Expected, ReadCredential } from '../credential.ts'
import type { Check, Failure, Findings } from '../finding.ts'
import { SignerCertificates } from '../trust/signer-certificate.ts'
import { findHolderBindingProblem, parseDeviceSigned } from './device.ts'
import { checkDigests, checkValidity, findIssuerSignatureProblem, member, parseIssuerSigned, readStatus } from './issuer.ts'

export const MDOC_BYTES_MAX = 1024 * 1024
const PRESENTATION_CHARS_MAX = Math.ceil((MDOC_BYTES_MAX * 4) / 3)

/** `transcript`: the encoded SessionTranscript that the device must have signed. */
export type MdocContext = Pick<Expected, 'now' | 'macKey'> & { transcript: Uint8Array; holderBindingRequired: boolean }

/** Neither method throws: problems are in the findings, and the result is undefined if nothing could be read. */
export class MdocReader {
  constructor(private readonly signers = new SignerCertificates()) {}

  async read(
    findings: Findings,
    presentation: string,
    expected: Expected,
    holderBindingRequired: boolean,
  ): Promise<ReadCredential | undefined> {
    const bytes = presentation.length > PRESENTATION_CHARS_MAX ? undefined : decodeBase64url(presentation)
    if (!bytes) return malformed(findings, 'The mdoc is not base64url without padding, or it is too large.')
    return this.readDeviceResponse(findings, bytes, {
      now: expected.now,
      transcript: expected.transcript(),
      macKey: expected.macKey,
      holderBindingRequired,
    })
  }

  async readDeviceResponse(findings: Findings, bytes: Uint8Array, context: MdocContext): Promise<ReadCredential | undefined> {
    try {
      return await this.readDocument(findings, parseOnlyDocument(bytes), context)
    } catch (error) {
      // The only catch for this format. The sentences of a CborError are ours; other errors are not shown.
      return malformed(
        findings,
        error instanceof CborError ? `The mdoc cannot be read: ${error.message}.` : 'The mdoc cannot be read.',
      )
    }
  }

  private async readDocument(findings: Findings, item: CborItem, context: MdocContext): Promise<ReadCredential> {
    const document = item.asMap()
    const docType = member(document, 'docType').asText()
    const issuerSigned = parseIssuerSigned(member(document, 'issuerSigned'))
    const { auth, mso } = issuerSigned
    const deviceSigned = parseDeviceSigned(document.get('deviceSigned'))
    // A proof that was sent without being requested must be valid, too.
    const isProofChecked = context.holderBindingRequired || deviceSigned?.signature !== undefined
    findings.pass('format')

    const certificate = auth.x5chain[0] && (await this.signers.read(auth.x5chain[0]))
    const [issuerProblem, holderProblem] = await Promise.all([
      findIssuerSignatureProblem(auth, certificate),
      isProofChecked ? findHolderBindingProblem(deviceSigned, { ...context, mso, docType }) : undefined,
    ])
    record(findings, 'issuer_signature', 'signature_invalid', issuerProblem)
    const claims = checkDigests(findings, issuerSigned)
    // ISO/IEC 18013-5 § 9.3.1.
    const docTypeProblem = docType === mso.docType ? undefined : 'The document is of another type than the issuer signed.'
    record(findings, 'doctype', 'presentation_malformed', docTypeProblem)
    checkValidity(findings, mso.validity, certificate, context.now)
    if (isProofChecked) record(findings, 'holder_binding', 'holder_binding_invalid', holderProblem)
    else findings.skip('holder_binding', 'No proof of possession was asked for.')

    return {
      format: 'mso_mdoc',
      type: mso.docType,
      claims,
      signed: auth.payload!,
      chain: auth.x5chain,
      status: readStatus(mso.status),
      ...(deviceSigned?.mac && { proof: 'mac' as const }),
    }
  }
}

function malformed(findings: Findings, detail: string): undefined {
  findings.fail('format', 'presentation_malformed', detail)
}

function parseOnlyDocument(bytes: Uint8Array): CborItem {
  const response = parseCbor(bytes).asMap()
  if (!/^1\.\d{1,3}$/.test(member(response, 'version').asText())) throw new CborError('its version is not supported')
  if (member(response, 'status').asUint() !== 0) throw new CborError('the wallet reports an error')
  const documents = response.get('documents')?.asArray() ?? []
  // HAIP 1.0 § 5.3.1: one mdoc per DeviceResponse.
  if (documents.length !== 1) throw new CborError('it must hold exactly one document')
  return documents[0]!
}

function record(findings: Findings, check: Check, failure: Failure, problem: string | undefined): void {
  if (problem === undefined) findings.pass(check)
  else findings.fail(check, failure, problem)
}
