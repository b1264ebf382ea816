import { useState } from 'preact/hooks'
import type { Template, TemplateUse } from '../../../dashboard/templates/schema.ts'
import { Button } from '../../kit/button.tsx'
import { Time } from '../../shared/time.tsx'
import { useData } from '../data.ts'
import { Facts } from '../parts/facts.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { hrefTo, Link } from '../route.tsx'
import { ForEditors, usePlace } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { AllowDialog } from './allow.tsx'
import { useTemplatesWords } from './words.ts'

/** The tills that may ask for a template, and its last use in each environment. */
export function TemplateUseList({ template }: { template: Template }) {
  const words = useTemplatesWords()
  const { environments, never } = useDashboardWords()
  const { inTenant } = usePlace()
  const use = useData<TemplateUse>(inTenant(`templates/${encodeURIComponent(template.key)}/use`))
  const [isAllowing, setIsAllowing] = useState(false)
  return (
    <section class="stack tight">
      <h3>{words.use}</h3>
      <Loaded data={use}>
        {({ devices, last_used_at: { test, live } }) => (
          <>
            <Facts
              facts={[
                [words.lastUsed(environments.test), test ? <Time key="test" at={test} /> : never],
                [words.lastUsed(environments.live), live ? <Time key="live" at={live} /> : never],
              ]}
            />
            <p>{devices.length === 0 ? words.noDevices : words.devices}</p>
            <ul class="plain-list">
              {devices.map(({ id, name, environment }) => (
                <li key={id}>
                  <Link href={hrefTo('tills', { environment })}>{name}</Link> ({environments[environment]})
                </li>
              ))}
            </ul>
          </>
        )}
      </Loaded>
      <ForEditors>
        <div>
          <Button onClick={() => setIsAllowing(true)}>{words.allow}</Button>
        </div>
      </ForEditors>
      {isAllowing && (
        <AllowDialog
          template={template}
          onClose={() => {
            setIsAllowing(false)
            use.reload()
          }}
        />
      )}
    </section>
  )
}
