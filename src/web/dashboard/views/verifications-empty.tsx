import type { ComponentChildren } from 'preact'
import { Empty } from '../../shared/empty.tsx'
import { curlLine } from '../service-line.ts'
import { usePlace } from '../session.tsx'
import { TryIt } from './try-it.tsx'

/** What a verification is, the button that makes one, and the line that does the same. */
export function VerificationsEmpty({ title, children }: { title: string; children: ComponentChildren }) {
  const { environment } = usePlace()
  return (
    <Empty
      title={title}
      action={environment === 'test' ? <TryIt /> : undefined}
      curl={curlLine({ path: 'v1/verifications', key: `vk_${environment}_…`, body: { template: 'age_over_18' } })}
    >
      {children}
    </Empty>
  )
}
