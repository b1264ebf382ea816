import type { AuditVerdict } from './verify.ts'

export const presentVerdict = ({ count, head, signedTo, publicKey, problem }: AuditVerdict) => ({
  ok: problem === undefined,
  count,
  head,
  signed_to: signedTo,
  public_key: publicKey,
  ...(problem && { broken_at: problem.seq, problem: problem.problem }),
})
