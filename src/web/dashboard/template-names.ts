import type { Template } from '../../dashboard/templates/schema.ts'
import { inFormat } from '../../words/templates.ts'
import { useLanguage } from '../shared/language.ts'
import { type Data, useData } from './data.ts'
import { usePlace } from './session.tsx'
import { useVerificationsWords } from './verifications/words.ts'

export type TemplatesData = Data<{ data: Template[] }>

export function useTemplates(): TemplatesData {
  const { inTenant } = usePlace()
  return useData<{ data: Template[] }>(inTenant('templates'))
}

/** The template with this key or alias, and the form that an alias asks for. */
export function findNamed(templates: readonly Template[] | undefined, name: string | undefined) {
  for (const template of templates ?? []) {
    if (template.key === name) return { template }
    const alias = template.aliases.find(({ key }) => key === name)
    if (alias) return { template, format: alias.format }
  }
}

/** The title of a template by its key or alias; the key itself if the template is gone. */
export function useTemplateTitle({ value }: TemplatesData): (key: string | undefined) => string {
  const { ownQuery } = useVerificationsWords()
  const language = useLanguage()
  return key => {
    if (key === undefined) return ownQuery
    const { template, format } = findNamed(value?.data, key) ?? {}
    if (!template) return key
    const { title } = template.localized
    return (format ? inFormat(title, format) : title)[language]
  }
}
