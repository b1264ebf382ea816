import type { ComponentChildren } from 'preact'
import { Empty } from '../../kit/empty.tsx'
import { Icon } from '../../kit/icons.tsx'
import { curlLine } from '../parts/service-line.ts'
import { ButtonTo, hrefTo } from '../route.tsx'
import { usePlace } from '../session.tsx'
import { FillTest } from './test-data.tsx'
import { TryIt } from './try-it.tsx'
import { useVerificationsWords } from './words.ts'

type Props = { title: string; onFilled?: () => void; children: ComponentChildren }

export function VerificationsEmpty({ title, onFilled, children }: Props) {
  const words = useVerificationsWords()
  const { environment } = usePlace()
  return (
    <Empty
      title={title}
      action={
        environment === 'test' ? (
          <div class="row centred">
            <TryIt />
            {onFilled && <FillTest onDone={onFilled} />}
          </div>
        ) : (
          <ButtonTo kind="primary" href={hrefTo('keys')}>
            <Icon name="plus" />
            {words.liveKey}
          </ButtonTo>
        )
      }
      curl={curlLine({ path: 'v1/verifications', key: `vk_${environment}_…`, body: { template: 'age_over_18' } })}
    >
      {children}
    </Empty>
  )
}
