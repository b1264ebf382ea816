import type { AuditVerification } from '../../../../dashboard/settings/audit/schema.ts'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Seal } from '../../../kit/seal.tsx'
import { Time } from '../../../shared/time.tsx'
import { useAction } from '../../action.ts'
import { useData, useEvery } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { Facts } from '../../parts/facts.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { Problem } from '../../parts/problem.tsx'
import { saveFile } from '../../parts/save-file.ts'
import { useSession } from '../../session.tsx'
import { useAuditWords } from './words.ts'

const LOOK_MS = 2000
const FILE = 'vidimus-audit.jsonl'

/** Verifies the audit chain, and exports it. */
export function AuditChain() {
  const words = useAuditWords()
  const { call, download } = useSession()
  const data = useData<AuditVerification>('audit/verification')
  const verify = useAction(async () => data.set(await call<AuditVerification>('audit/verification', { method: 'POST' })))
  const save = useAction(async () => saveFile(FILE, await download('audit/export')))
  const isRunning = data.value?.state === 'running'
  useEvery(LOOK_MS, isRunning, data.reload)
  return (
    <Card>
      <Loaded data={data}>{verification => <State verification={verification} />}</Loaded>
      <Problem of={verify.problem ?? save.problem} />
      <div class="row">
        <Button busy={verify.isBusy || isRunning} onClick={() => verify.run()}>
          {words.verify}
        </Button>
        <Button busy={save.isBusy} onClick={() => save.run()}>
          {words.export}
        </Button>
        <p class="hint">
          {words.exportMore} <code>vidimus audit verify --file {FILE}</code>
        </p>
      </div>
    </Card>
  )
}

function State({ verification: { state, started_at, verdict } }: { verification: AuditVerification }) {
  const words = useAuditWords()
  const { number } = useFormat()
  if (state === 'running') return <Told seal="busy" sentence={words.verifying} />
  if (!verdict) return <p class="secondary">{words.notVerified}</p>
  return (
    <>
      {verdict.ok ? (
        <Told seal="verified" sentence={words.verified(number(verdict.count))} />
      ) : (
        <Told seal="refused" sentence={words.broken(number(verdict.broken_at ?? 0))} more={words.brokenMore} />
      )}
      <details class="folded">
        <summary>
          {words.signedTo(verdict.signed_to)} {started_at && <Time at={started_at} exact />}
        </summary>
        <Facts
          facts={[
            [words.head, <code key="head">{verdict.head}</code>],
            [words.publicKey, <code key="key">{verdict.public_key}</code>],
            ['', verdict.problem],
          ]}
        />
      </details>
    </>
  )
}

function Told({ seal, sentence, more }: { seal: 'busy' | 'verified' | 'refused'; sentence: string; more?: string }) {
  return (
    <div class="line middle" role="status">
      <Seal state={seal} size={40} />
      <div>
        <p>
          <strong>{sentence}</strong>
        </p>
        {more && <p class="secondary">{more}</p>}
      </div>
    </div>
  )
}
