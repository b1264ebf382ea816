// A credential that does not verify is a result, not an exception: every check leaves a finding, named by what must hold, in the order of
// the checks. What the caller is told (trusted, signature_valid, holder_binding_valid, the error code) is derived from them.

/** In the order in which a failed session names its reason: the first that applies (decisions, outcome of a wallet response). */
export const FAILURES = [
  'presentation_malformed',
  'signature_invalid',
  'holder_binding_invalid',
  'issuer_untrusted',
  'credential_expired',
  'credential_not_yet_valid',
  'credential_revoked',
  'status_unknown',
  'query_not_satisfied',
  'claim_not_satisfied',
] as const
export type Failure = (typeof FAILURES)[number]

export type Check =
  | 'format'
  | 'issuer_signature'
  | 'digests'
  | 'doctype'
  | 'holder_binding'
  | 'validity'
  | 'issuer_chain'
  | 'status'
  | 'query'
  | 'rule'
  | 'merge'
  | 'environment'

export type Finding = { check: Check; status: 'pass' | 'fail' | 'warning' | 'skipped'; detail?: string }

/** A finding with when it was made and, for a failed one, what it means for the session. */
export type RecordedFinding = Finding & { at: number; failure?: Failure }

export class Findings {
  readonly all: RecordedFinding[] = []

  constructor(private readonly now: () => number) {}

  pass(check: Check): void {
    this.all.push({ check, status: 'pass', at: this.now() })
  }

  /** `detail` is for the merchant: what is wrong, without any claim value or anything else the wallet sent. */
  fail(check: Check, failure: Failure, detail: string): void {
    this.all.push({ check, status: 'fail', detail, at: this.now(), failure })
  }

  warn(check: Check, detail: string): void {
    this.all.push({ check, status: 'warning', detail, at: this.now() })
  }

  skip(check: Check, detail: string): void {
    this.all.push({ check, status: 'skipped', detail, at: this.now() })
  }

  /** It was checked, and never failed. */
  holds(check: Check): boolean {
    let isPassed = false
    for (const finding of this.all) {
      if (finding.check !== check) continue
      if (finding.status === 'fail') return false
      if (finding.status === 'pass') isPassed = true
    }
    return isPassed
  }

  get failures(): Failure[] {
    return this.all.flatMap(({ failure }) => failure ?? [])
  }
}
