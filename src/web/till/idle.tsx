import type { Till } from '../../devices/schema.ts'
import { Button } from '../kit/button.tsx'
import { Icon } from '../kit/icons.tsx'
import { Notice } from '../kit/notice.tsx'
import { Seal } from '../kit/seal.tsx'
import type { ApiFailure } from '../shared/api.ts'
import { useCommon } from '../shared/language.ts'
import { restoreCheck, startCheck } from './check/check.ts'
import { Heading } from './heading.tsx'
import { type Check, read } from './memory.ts'
import { CheckTablet } from './reading/check-tablet.tsx'
import { wakeSound } from './sound.ts'
import { useTitle } from './title.ts'
import { useKeys } from './use-keys.ts'
import { useTillWords } from './words.ts'

type Props = {
  till: Till | undefined
  /** The last check, if its verdict can be shown again. */
  last: Check | undefined
  refusal: ApiFailure | undefined
}

/** One large button per template, with digits as shortcuts. */
export function Idle({ till, last, refusal }: Props) {
  const words = useTillWords()
  const common = useCommon()
  const title = useTitle(till)
  const problem = refusal && (words.refused[refusal.code] ?? words.notStarted)
  const ready = till?.templates.filter(template => template.title) ?? []
  useKeys(Object.fromEntries(ready.slice(0, 9).map(({ key }, i) => [String(i + 1), () => start(key)])))
  if (!till) {
    return (
      <main class="hold">
        <div class="only-heard">
          <Heading text={common.loading} />
        </div>
        <Seal state="busy" />
      </main>
    )
  }
  return (
    <main class="idle">
      <Heading text={words.idle} />
      {refusal && (
        <Notice tone="no" alert>
          {problem} <code>{refusal.code}</code>
        </Notice>
      )}
      {till.templates.length === 0 && <Notice tone="wait">{words.noTemplates}</Notice>}
      <ul class="templates grid">
        {till.templates.map(template => (
          <li key={template.key}>
            <button
              type="button"
              class="template stack tight centred"
              disabled={!template.title}
              onClick={() => start(template.key)}
            >
              <span class="name">{title(template.key)}</span>
              {template.title ? (
                <span class="digit" aria-hidden="true">
                  {digitOf(ready.indexOf(template))}
                </span>
              ) : (
                <span class="small">{words.notSetUp}</span>
              )}
            </button>
          </li>
        ))}
      </ul>
      <div class="row">
        {last && (
          <Button kind="quiet" large onClick={() => restoreCheck(last)}>
            <Icon name="back" />
            {words.showLast}
          </Button>
        )}
        <CheckTablet />
      </div>
    </main>
  )
}

const digitOf = (index: number): string => (index < 9 ? String(index + 1) : '')

function start(template: string): void {
  // The first of two quick taps counts, in two tabs as well.
  const kept = read('check')
  if (kept && !kept.isPutAway) return
  if (read('hasSound')) wakeSound()
  startCheck(template)
}
