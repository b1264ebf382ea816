import { useState } from 'preact/hooks'
import type { PairableDevice, Template } from '../../../dashboard/settings-schema.ts'
import { Check, Field } from '../../shared/field.tsx'
import { useLanguage } from '../../shared/language.tsx'
import { FormDialog } from '../form-dialog.tsx'
import { Loaded } from '../loaded.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { PairDevice } from './pair-device.tsx'

const FIRST_TEMPLATES = ['age_over_18']
const TEMPLATES_MAX = 20
/** The usual templates of a till; the others are folded away. */
const USUAL = /^(age_over_(16|18|21)|age_over_18_photo|eu_av_age_18|driving_licence|photo_id)$/

type Pairable = typeof PairableDevice.static

export function RegisterDeviceDialog({ onClose }: { onClose: () => void }) {
  const words = useDashboardWords().devices
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const templates = useTemplates()
  const [name, setName] = useState('')
  const [chosen, setChosen] = useState<readonly string[]>(FIRST_TEMPLATES)
  const [registered, setRegistered] = useState<Pairable>()
  const register = async () => {
    const path = inTenant(`devices?environment=${environment}`)
    setRegistered(await call<Pairable>(path, { method: 'POST', body: { name: name.trim(), allowed_templates: chosen } }))
  }
  const isReady = chosen.length > 0 && chosen.length <= TEMPLATES_MAX
  return (
    <FormDialog
      title={registered ? words.pairTitle(registered.device.name) : words.registerTitle}
      verb={words.register}
      isReady={isReady}
      onSubmit={register}
      onClose={onClose}
      result={registered && <PairDevice registered={registered} onClose={onClose} />}
    >
      <Field
        label={words.name}
        hint={words.nameHint}
        autocomplete="off"
        required
        autofocus
        maxLength={64}
        value={name}
        onText={setName}
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
      {!isReady && <p class="hint">{words.templatesMissing}</p>}
    </FormDialog>
  )
}

const isUsual = ({ key, builtin }: Template): boolean => !builtin || USUAL.test(key)

type ChecksProps = { templates: readonly Template[]; chosen: readonly string[]; onChoose: (keys: readonly string[]) => void }

function TemplateChecks({ templates, chosen, onChoose }: ChecksProps) {
  const language = useLanguage()
  return templates.map(({ key, localized }) => (
    <Check
      key={key}
      label={localized.title[language]}
      isChecked={chosen.includes(key)}
      onCheck={isIn => onChoose(isIn ? [...chosen, key] : chosen.filter(each => each !== key))}
    />
  ))
}
