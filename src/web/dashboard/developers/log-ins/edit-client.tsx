import { useState } from 'preact/hooks'
import type { ChangeClient, CreateClient } from '../../../../dashboard/developers/log-ins/schema.ts'
import type { ClientWithSecret } from '../../../../oidc/clients.ts'
import type { Client } from '../../../../oidc/schema.ts'
import { Copy } from '../../../kit/copy.tsx'
import { Check, Field, Select, TextArea } from '../../../kit/field.tsx'
import { CopiedButton, Secret } from '../../../kit/secret.tsx'
import { useLanguage } from '../../../shared/language.ts'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { TemplateTicks } from '../../parts/template-menu.tsx'
import { usePlace, useSession } from '../../session.tsx'
import { useTemplates } from '../../template-names.ts'
import { useDashboardWords } from '../../words.ts'
import { PROGRAMS, type Program } from './programs.ts'
import { useLogInsWords } from './words.ts'

const CLAIM = 'claim:'
const USUAL_CLAIM = 'personal_administrative_number'

/** Adds a program, or changes one. */
export function EditClient({ old, onClose }: { old?: Client; onClose: () => void }) {
  const words = useLogInsWords()
  const all = useDashboardWords()
  const language = useLanguage()
  const { call } = useSession()
  const { environment, inTenant } = usePlace()
  const known = useTemplates()
  const [program, setProgram] = useState<Program>('own')
  const [name, setName] = useState(old?.name ?? '')
  const [redirects, setRedirects] = useState(old?.redirect_uris.join('\n') ?? '')
  const [templates, setTemplates] = useState<readonly string[]>(old?.templates ?? ['age_over_18'])
  const [isKnown, setIsKnown] = useState(old?.subject.startsWith(CLAIM) ?? false)
  const [claim, setClaim] = useState(old?.subject.startsWith(CLAIM) ? old.subject.slice(CLAIM.length) : USUAL_CLAIM)
  const [isRenaming, setIsRenaming] = useState(false)
  const [acrossDevices, setAcrossDevices] = useState(old?.cross_device !== 'refused')
  const [keepResults, setKeepResults] = useState(old?.keep_results ?? false)
  const [made, setMade] = useState<ClientWithSecret>()
  const subject = isKnown ? `${CLAIM}${claim.trim()}` : 'session'
  const isOther = old?.last_login_at !== undefined && old.subject !== subject
  const save = async () => {
    const shared = {
      name: name.trim(),
      redirect_uris: redirects.split(/\s+/).filter(Boolean),
      templates: [...templates],
      subject,
      cross_device: acrossDevices ? ('allowed' as const) : ('refused' as const),
      keep_results: keepResults,
    }
    if (old) {
      const body: ChangeClient = { ...shared, ...(isOther && { confirm: 'rename' }) }
      await call(inTenant(`clients/${old.id}`), { method: 'PUT', body })
      return onClose()
    }
    const { redirect: _, ...settings } = PROGRAMS[program]
    const body: CreateClient = { environment, ...shared, ...settings }
    setMade(await call<ClientWithSecret>(inTenant('clients'), { method: 'POST', body }))
  }
  return (
    <FormDialog
      title={made ? words.made(made.name) : old ? old.name : words.add}
      verb={old ? all.save : words.add}
      isReady={templates.length > 0 && (!isOther || isRenaming)}
      onSubmit={save}
      onClose={onClose}
      result={made && <MadeClient made={made} onClose={onClose} />}
    >
      {!old && (
        <Select
          label={words.program}
          value={program}
          options={(Object.keys(PROGRAMS) as Program[]).map(each => [each, words.programs[each]])}
          onChoose={setProgram}
        />
      )}
      <Field label={words.name} hint={words.nameHint} required maxLength={64} autocomplete="off" value={name} onText={setName} />
      <TextArea
        label={words.redirects}
        hint={words.redirectsHint(PROGRAMS[program].redirect)}
        required
        rows={2}
        value={redirects}
        onText={setRedirects}
      />
      <fieldset class="choices">
        <legend>{words.asks}</legend>
        <p class="hint">{words.asksHint}</p>
        <Loaded data={known}>
          {({ data }) => {
            return (
              <TemplateTicks templates={data} isChosen={({ key }) => templates.includes(key)}>
                {({ key, localized }) => (
                  <Check
                    key={key}
                    label={localized.title[language]}
                    isChecked={templates.includes(key)}
                    onCheck={isIn => setTemplates(isIn ? [...templates, key] : templates.filter(each => each !== key))}
                  />
                )}
              </TemplateTicks>
            )
          }}
        </Loaded>
      </fieldset>
      <fieldset class="choices">
        <legend>{words.who}</legend>
        {([false, true] as const).map(each => (
          <Check
            key={String(each)}
            group="log-in-subject"
            label={words.subjects[each ? 'claim' : 'session'].title}
            hint={words.subjects[each ? 'claim' : 'session'].hint}
            isChecked={isKnown === each}
            onCheck={() => {
              setIsKnown(each)
              setAcrossDevices(!each)
            }}
          />
        ))}
      </fieldset>
      {isKnown && <Field label={words.claim} hint={words.claimHint} required maxLength={64} value={claim} onText={setClaim} />}
      {isOther && <Check label={words.rename} isChecked={isRenaming} onCheck={setIsRenaming} />}
      <Check label={words.acrossDevices} hint={words.acrossDevicesHint} isChecked={acrossDevices} onCheck={setAcrossDevices} />
      <Check label={words.keepResults} hint={words.keepResultsHint} isChecked={keepResults} onCheck={setKeepResults} />
    </FormDialog>
  )
}

/** What the program asks for, to copy. */
export function MadeClient({ made, onClose }: { made: ClientWithSecret; onClose: () => void }) {
  const words = useLogInsWords()
  const values = { issuer: made.issuer, id: made.id, scope: `openid vidimus:${made.templates[0]}` }
  return (
    <div class="stack">
      {(['issuer', 'id', 'scope'] as const).map(each => (
        <div key={each} class="stack dense">
          <strong>{words.values[each]}</strong>
          <Copy text={values[each]} label={words.values[each]} wraps />
        </div>
      ))}
      {made.client_secret !== undefined && <Secret text={made.client_secret} label={words.secret} />}
      <CopiedButton onClose={onClose} />
    </div>
  )
}
