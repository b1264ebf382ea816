import { useState } from 'preact/hooks'
import type { PairableDevice, Template } from '../../../dashboard/settings-schema.ts'
import { Button } from '../../shared/button.tsx'
import { Dialog } from '../../shared/dialog.tsx'
import { Check, Field } from '../../shared/field.tsx'
import { useCommon, useLanguage } from '../../shared/language.tsx'
import { useAction } from '../action.ts'
import { Loaded } from '../loaded.tsx'
import { Problem } from '../problem.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { PairDevice } from './pair-device.tsx'

const FIRST_TEMPLATES = ['age_over_18']
const TEMPLATES_MAX = 20
/** What a till is mostly used for; the rest is folded away. */
const USUAL = /^(age_over_(16|18|21)|age_over_18_photo|eu_av_age_18|driving_licence|photo_id)$/

type Pairable = typeof PairableDevice.static

export function RegisterDeviceDialog({ onClose }: { onClose: () => void }) {
  const words = useDashboardWords().devices
  const [registered, setRegistered] = useState<Pairable>()
  return (
    <Dialog
      title={registered ? words.pairTitle(registered.device.name) : words.registerTitle}
      holds={registered !== undefined}
      onClose={onClose}
    >
      {registered ? (
        <PairDevice registered={registered} onClose={onClose} />
      ) : (
        <Form onRegistered={setRegistered} onClose={onClose} />
      )}
    </Dialog>
  )
}

function Form({ onRegistered, onClose }: { onRegistered: (registered: Pairable) => void; onClose: () => void }) {
  const words = useDashboardWords().devices
  const common = useCommon()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const templates = useTemplates()
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly string[]>(FIRST_TEMPLATES)
  const register = useAction(async () => {
    const path = inTenant(`devices?environment=${environment}`)
    onRegistered(await call<Pairable>(path, { method: 'POST', body: { name: name.trim(), allowed_templates: chosen } }))
  })
  const isRight = chosen.length > 0 && chosen.length <= TEMPLATES_MAX
  return (
    <form class="stack" onSubmit={register.submit}>
      <Field
        label={words.name}
        hint={words.nameHint}
        autocomplete="off"
        required
        autofocus
        maxLength={64}
        value={name}
        onInput={event => setName(event.currentTarget.value)}
      />
      <fieldset class="choices">
        <legend>{words.templates}</legend>
        <Loaded data={templates}>
          {({ data }) => (
            <>
              <TemplateChecks templates={data.filter(isUsual)} chosen={chosen} onChoose={setChosen} />
              <details class="folded">
                <summary>{words.moreTemplates}</summary>
                <TemplateChecks templates={data.filter(each => !isUsual(each))} chosen={chosen} onChoose={setChosen} />
              </details>
            </>
          )}
        </Loaded>
      </fieldset>
      {!isRight && <p class="hint">{words.templatesMissing}</p>}
      <Problem of={register.problem} />
      <div class="row end">
        <Button onClick={onClose}>{common.cancel}</Button>
        <Button kind="primary" type="submit" busy={register.isBusy} disabled={!isRight}>
          {words.register}
        </Button>
      </div>
    </form>
  )
}

const isUsual = ({ key, is_builtin }: Template): boolean => !is_builtin || USUAL.test(key)

type ChecksProps = { templates: readonly Template[]; chosen: readonly string[]; onChoose: (keys: readonly string[]) => void }

function TemplateChecks({ templates, chosen, onChoose }: ChecksProps) {
  const language = useLanguage()
  return templates.map(({ key, title }) => (
    <Check
      key={key}
      label={title[language]}
      checked={chosen.includes(key)}
      onChange={event => onChoose(event.currentTarget.checked ? [...chosen, key] : chosen.filter(each => each !== key))}
    />
  ))
}
