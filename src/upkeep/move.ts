// Moves an installation whose audit chain is sound.
import { createAudit } from '../audit/append.ts'
import { verifyChain } from '../audit/verify.ts'
import { type Move, moveInstallation } from '../db/move/installation.ts'
import { StartRefusal } from '../db/refusal.ts'
import { createSessionKeys } from '../session-keys/keys.ts'

type MoveOptions = Parameters<typeof moveInstallation>[0] & { keyDir: string }

export const moveToPostgres = (wanted: MoveOptions): Promise<Move> =>
  moveInstallation(wanted, async (db, sealer) => {
    const { keyDir, random } = wanted
    const sessionKeys = createSessionKeys({ keyDir, sealer, random })
    const { problem, head } = await verifyChain({ db, sealer, sessionKeys, audit: createAudit(sealer, random) })
    if (problem)
      throw new StartRefusal(
        'database_damaged',
        `record ${problem.seq} of the audit chain is not sound; see "vidimus audit verify", or restore a backup first`,
      )
    return head
  })
