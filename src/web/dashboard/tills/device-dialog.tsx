import { useState } from 'preact/hooks'
import type { Template } from '../../../dashboard/templates/schema.ts'
import type { PairableDevice } from '../../../dashboard/tills/schema.ts'
import type { Device } from '../../../devices/schema.ts'
import { Check, Field } from '../../kit/field.tsx'
import { useLanguage } from '../../shared/language.ts'
import { FormDialog } from '../parts/form-dialog.tsx'
import { Loaded } from '../parts/loaded.tsx'
import { usePlace, useSession } from '../session.tsx'
import { useTemplates } from '../template-names.ts'
import { useDashboardWords } from '../words.ts'
import { PairDevice } from './pair-device.tsx'
import { useDevicesWords } from './words.ts'

const FIRST_TEMPLATES = ['age_over_18']
const TEMPLATES_MAX = 20
/** The usual templates of a till; the others are folded away. */
const USUAL = /^(age_over_(16|18|21)|age_over_18_photo|eu_av_age_18|driving_licence|photo_id)$/

type DialogProps = { /** The one to change; without it a new one is registered. */ device?: Device; onClose: () => void }

/** The name and the templates of a device, new or known. */
export function DeviceDialog({ device, onClose }: DialogProps) {
  const words = useDevicesWords()
  const { save } = useDashboardWords()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const templates = useTemplates()
  const [name, setName] = useState(device?.name ?? '')
  const [chosen, setChosen] = useState<readonly string[]>(device?.allowed_templates ?? FIRST_TEMPLATES)
  const [registered, setRegistered] = useState<PairableDevice>()
  const submit = async () => {
    const body = { name: name.trim(), allowed_templates: chosen }
    if (device) {
      await call(inTenant(`devices/${device.id}?environment=${environment}`), { method: 'PUT', body })
      return onClose()
    }
    setRegistered(await call<PairableDevice>(inTenant(`devices?environment=${environment}`), { method: 'POST', body }))
  }
  const isReady = chosen.length > 0 && chosen.length <= TEMPLATES_MAX
  return (
    <FormDialog
      title={registered ? words.pairTitle(registered.device.name) : device ? words.changeTitle(device.name) : words.registerTitle}
      verb={device ? save : words.register}
      isReady={isReady}
      onSubmit={submit}
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
              <details class="folded" open={data.some(each => !isUsual(each) && device?.allowed_templates.includes(each.key))}>
                <summary>{words.moreTemplates}</summary>
                <TemplateChecks templates={data.filter(each => !isUsual(each))} chosen={chosen} onChoose={setChosen} />
              </details>
              <UnknownChecks keys={missingIn(data, device)} chosen={chosen} onChoose={setChosen} />
            </>
          )}
        </Loaded>
      </fieldset>
      {!isReady && <p class="hint">{words.templatesMissing}</p>}
    </FormDialog>
  )
}

/** Templates that the device names and that do not exist, or not yet. */
const missingIn = (templates: readonly Template[], device: Device | undefined): string[] =>
  (device?.allowed_templates ?? []).filter(key => !templates.some(template => template.key === key))

const isUsual = ({ key, builtin }: Template): boolean => !builtin || USUAL.test(key)

type UnknownProps = { keys: readonly string[]; chosen: readonly string[]; onChoose: (keys: readonly string[]) => void }

function UnknownChecks({ keys, chosen, onChoose }: UnknownProps) {
  return keys.map(key => (
    <Check
      key={key}
      label={key}
      isChecked={chosen.includes(key)}
      onCheck={isIn => onChoose(isIn ? [...chosen, key] : chosen.filter(each => each !== key))}
    />
  ))
}

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
