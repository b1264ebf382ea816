import { useState } from 'preact/hooks'
import type { Template } from '../../../dashboard/templates/schema.ts'
import type { TillDevice } from '../../../devices/schema.ts'
import { Check } from '../../kit/field.tsx'
import { useData } from '../data.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { hrefTo, Link } from '../route.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useDashboardWords } from '../words.ts'
import { useTemplatesWords } from './words.ts'

type Props = { template: Template; onClose: () => void }

/** The tills of this environment, ticked where they may ask for a template under any of its names. */
export function AllowDialog({ template: { key, aliases }, onClose }: Props) {
  const words = useTemplatesWords()
  const { save, environments } = useDashboardWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const tills = useData<{ data: TillDevice[] }>(inTenant(`devices?environment=${environment}`))
  const [changed, setChanged] = useState<ReadonlyMap<string, boolean>>(new Map())
  const names = [key, ...aliases.map(alias => alias.key)]
  const mayAsk = ({ allowed_templates }: TillDevice) => allowed_templates.some(each => names.includes(each))
  const isAllowed = (till: TillDevice) => changed.get(till.id) ?? mayAsk(till)
  const isAlone = ({ allowed_templates }: TillDevice) => allowed_templates.every(each => names.includes(each))
  const isReady = !tills.value?.data.some(till => !isAllowed(till) && isAlone(till))
  const submit = async () => {
    for (const till of tills.value?.data ?? []) {
      if (isAllowed(till) === mayAsk(till)) continue
      const { id, name, ways, allowed_templates: before } = till
      const allowed_templates = isAllowed(till) ? [...before, key] : before.filter(each => !names.includes(each))
      const body = { name, ways, allowed_templates }
      await call(inTenant(`devices/${id}?environment=${environment}`), { method: 'PUT', body })
    }
    onClose()
  }
  return (
    <FormDialog
      title={words.allow}
      intro={words.allowIn(environments[environment])}
      verb={save}
      isReady={isReady}
      onSubmit={submit}
      onClose={onClose}
    >
      <Loaded data={tills}>
        {({ data }) => {
          const known = data.filter(({ status }) => status !== 'revoked')
          if (known.length === 0)
            return (
              <p>
                {words.noTills} <Link href={hrefTo('tills')}>{words.toTills}</Link>
              </p>
            )
          return known.map(till => (
            <Check
              key={till.id}
              label={till.name}
              hint={mayAsk(till) && isAlone(till) && words.onlyThis}
              isChecked={isAllowed(till)}
              onCheck={isOn => setChanged(new Map(changed).set(till.id, isOn))}
            />
          ))
        }}
      </Loaded>
    </FormDialog>
  )
}
