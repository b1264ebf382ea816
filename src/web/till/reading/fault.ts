/** The codes of POST /v1/verifications/{id}/in-person-failure. */
export type FaultCode =
  | 'no_bluetooth'
  | 'not_chosen'
  | 'not_connected'
  | 'wrong_service'
  | 'write_failed'
  | 'bad_chunk'
  | 'too_large'
  | 'lost'
  | 'timed_out'

/** A page can tell more than the service wants to know. */
export type Trouble = FaultCode | keyof typeof FINER

const FINER = { not_allowed: 'no_bluetooth', none_seen: 'not_chosen' } as const

/** What went wrong between the tablet and the phone. */
export class Fault extends Error {
  constructor(readonly trouble: Trouble) {
    super(trouble)
  }

  get code(): FaultCode {
    return FINER[this.trouble as keyof typeof FINER] ?? this.trouble
  }
}

/** Rejects with the fault if the work fails or takes too long. */
export function within<Result>(work: Promise<Result>, ms: number, code: () => FaultCode): Promise<Result> {
  return new Promise((resolve, reject) => {
    const fail = () => reject(new Fault(code()))
    const timer = setTimeout(fail, ms)
    work.then(resolve, fail).finally(() => clearTimeout(timer))
  })
}
