// A credential that does not verify is a result, not an exception: every check records a finding,
// named by the condition that must hold, in the order of the checks. The fields of the API
// (trusted, signature_valid, holder_binding_valid, the error code) are derived from the findings.

/** Failures in order of precedence: a failed session reports the first one that applies. */
export const FAILURES = [
  'presentation_malformed',
  'signature_invalid',
  'holder_binding_invalid',
  'issuer_untrusted',
  'credential_expired',
  'credential_not_yet_valid',
  'credential_revoked',
  'issuer_status_unknown',
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

/** The list that a document was checked against, where no newer one could be had. */
export type UsedList = { asOf: number; from: 'fetched' | 'bundle' }

/** A finding with its time and, if it failed, the reason for the session. */
export type RecordedFinding = Finding & { at: number; failure?: Failure; list?: UsedList }

export class Findings {
  constructor(
    private readonly now: () => number,
    readonly all: RecordedFinding[] = [],
  ) {}

  /** For further checks that do not concern this one. */
  copy(): Findings {
    return new Findings(this.now, [...this.all])
  }

  pass(check: Check): void {
    this.all.push({ check, status: 'pass', at: this.now() })
  }

  /** `detail` tells the merchant what is wrong, without claim values or other data of the wallet. */
  fail(check: Check, failure: Failure, detail: string): void {
    this.all.push({ check, status: 'fail', detail, at: this.now(), failure })
  }

  warn(check: Check, detail: string, list?: UsedList): void {
    this.all.push({ check, status: 'warning', detail, at: this.now(), ...(list && { list }) })
  }

  skip(check: Check, detail: string): void {
    this.all.push({ check, status: 'skipped', detail, at: this.now() })
  }

  /** True if the check passed and never failed. */
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
