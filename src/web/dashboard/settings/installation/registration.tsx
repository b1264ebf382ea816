import { useState } from 'preact/hooks'
import type { AddedRegistration, Registration } from '../../../../dashboard/settings/installation/signing-schema.ts'
import { Badge } from '../../../kit/badge.tsx'
import { Button } from '../../../kit/button.tsx'
import { Card } from '../../../kit/card.tsx'
import { Field, Select, TextArea } from '../../../kit/field.tsx'
import { useData } from '../../data.ts'
import { useFormat } from '../../format.ts'
import { ConfirmButton } from '../../parts/confirm.tsx'
import { Facts } from '../../parts/facts.tsx'
import { FileButton } from '../../parts/file-button.tsx'
import { FormDialog } from '../../parts/form-dialog.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { useRoute } from '../../route.tsx'
import { useSession } from '../../session.tsx'
import { useTrustWords } from '../trust/words.ts'
import { type Note, Notes } from './notes.tsx'
import { useInstallationWords, usePapersWords } from './words.ts'

/** Claims that the registrar lets the shops ask for. */
export function Registrations() {
  const words = usePapersWords()
  const { call } = useSession()
  const data = useData<{ data: Registration[] }>('registrations')
  const { search } = useRoute()
  const [isAdding, setIsAdding] = useState(search.get('open') === 'registration')
  const [notes, setNotes] = useState<readonly Note[]>([])
  const remove = async (id: string) => {
    await call(`registrations/${id}`, { method: 'DELETE' })
    setNotes([])
    data.reload()
  }
  return (
    <Card title={words.registrations}>
      <p class="secondary">{words.registrationsMore}</p>
      <Notes notes={notes} />
      <Loaded data={data}>
        {({ data: rows }) =>
          rows.length === 0 ? (
            <p>{words.noRegistrations}</p>
          ) : (
            rows.map(row => <One key={row.id} registration={row} onRemove={() => remove(row.id)} />)
          )
        }
      </Loaded>
      <div class="row">
        <Button onClick={() => setIsAdding(true)}>{words.addRegistration}</Button>
      </div>
      {isAdding && (
        <AddDialog
          onClose={() => setIsAdding(false)}
          onAdded={added => {
            setIsAdding(false)
            setNotes(added.notes)
            data.reload()
          }}
        />
      )}
    </Card>
  )
}

function One({ registration, onRemove }: { registration: Registration; onRemove: () => Promise<void> }) {
  const words = usePapersWords()
  const { ends } = useInstallationWords()
  const { soon } = useTrustWords()
  const { date } = useFormat()
  const { session } = useSession()
  const { subject, purposes, intended_use, credentials, templates, tenant, not_after, is_current, expires_soon } = registration
  const name = purposes[0]?.value ?? intended_use ?? subject
  const claims = [...new Set(credentials.flatMap(each => each.claims.map(path => path.map(step => step ?? '*').join('.'))))]
  return (
    <article class="stack tight">
      <h3>
        {name} {!is_current && <Badge tone="no">{words.notCurrent}</Badge>}
        {is_current && expires_soon && <Badge tone="wait">{soon}</Badge>}
      </h3>
      <Facts
        facts={[
          [words.organisation, subject],
          [words.shop, tenant === null ? words.allShops : (session.tenants.find(each => each.id === tenant)?.name ?? tenant)],
          [words.mayAsk, claims.join(', ') || words.everything],
          [words.templates, templates.join(', ') || words.byCoverage],
          [ends, not_after === null ? words.noEnd : date(not_after)],
        ]}
      />
      <div>
        <ConfirmButton
          kind="danger"
          label={words.remove}
          title={words.removeTitle(name)}
          verb={words.removeDo}
          onConfirm={onRemove}
        >
          {words.removeMore}
        </ConfirmButton>
      </div>
    </article>
  )
}

function AddDialog({ onClose, onAdded }: { onClose: () => void; onAdded: (added: AddedRegistration) => void }) {
  const words = usePapersWords()
  const { call } = useSession()
  const [certificate, setCertificate] = useState('')
  const [templates, setTemplates] = useState('')
  const [tenant, setTenant] = useState('')
  const add = async () => {
    const keys = templates.split(/[\s,]+/).filter(key => key !== '')
    const body = { certificate, ...(keys.length > 0 && { templates: keys }), ...(tenant && { tenant }) }
    onAdded(await call<AddedRegistration>('registrations', { method: 'POST', body }))
  }
  return (
    <FormDialog
      title={words.addRegistration}
      intro={words.addRegistrationMore}
      verb={words.addRegistrationDo}
      onSubmit={add}
      onClose={onClose}
    >
      <TextArea label={words.certificate} required rows={6} value={certificate} onText={setCertificate} />
      <FileButton accept=".json,.jwt,.txt" onText={setCertificate} />
      <Field
        label={words.templates}
        hint={words.templatesHint}
        autocomplete="off"
        spellcheck={false}
        value={templates}
        onText={setTemplates}
      />
      <ShopChoice value={tenant} onChoose={setTenant} />
    </FormDialog>
  )
}

/** The shop that a certificate belongs to; empty for the installation's. */
export function ShopChoice({ value, onChoose }: { value: string; onChoose: (tenant: string) => void }) {
  const words = usePapersWords()
  const { session } = useSession()
  return (
    <Select
      label={words.issuedTo}
      value={value}
      options={[['', words.allShops], ...session.tenants.map(({ id, name }) => [id, name] as const)]}
      onChoose={onChoose}
    />
  )
}
