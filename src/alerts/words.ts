import { isoUtc } from '../base/time.ts'
import type { CheckName } from '../doctor/check.ts'
import type { Found } from '../doctor/examine.ts'
import { health as healthDe } from '../web/dashboard/settings/health/de.ts'
import { health as healthEn } from '../web/dashboard/settings/health/en.ts'
import { findings as findingsDe } from '../web/shared/findings/de.ts'
import { findings as findingsEn } from '../web/shared/findings/en.ts'
import { say } from '../web/shared/findings/say.ts'

export type MailText = { subject: string; text: string }

type Alert = { publicUrl: string; name: CheckName; finding: Found; since: number | null }
type Link = { publicUrl: string; url: string; until: number }
type LinkFor = Link & { name: string; isNew: boolean }

const hostOf = (publicUrl: string): string => URL.parse(publicUrl)?.host ?? publicUrl
const minuteOf = (ms: number): string => `${isoUtc(ms).slice(0, 16).replace('T', ' ')} UTC`
const lines = (...some: (string | undefined)[]): string => `${some.filter(line => line !== undefined).join('\n\n')}\n`

const en = {
  alert({ publicUrl, name, finding, since }: Alert): MailText {
    const { detail, remedy } = say(findingsEn, finding)
    return {
      subject: `${hostOf(publicUrl)}: ${healthEn.names[name]}`,
      text: lines(
        detail,
        remedy,
        since === null ? 'It was over when this mail was sent.' : `Since ${minuteOf(since)}.`,
        `All checks: ${publicUrl}/dashboard/settings/health`,
        `You get this as an owner of ${publicUrl}, at most once a day for each cause. Change or remove your mail address: ${publicUrl}/dashboard/settings/you`,
      ),
    }
  },
  confirm: ({ publicUrl, url, until }: Link): MailText => ({
    subject: `${hostOf(publicUrl)}: confirm this mail address`,
    text: lines(
      `Somebody entered this address at ${publicUrl}, to get mail when something there needs an owner. If that was you, open this link:`,
      url,
      `It works once, until ${minuteOf(until)}. If it was not you, do nothing: no more mail comes.`,
    ),
  }),
  link: ({ publicUrl, url, until, name, isNew }: LinkFor): MailText => ({
    subject: isNew ? `${hostOf(publicUrl)}: an invitation` : `${hostOf(publicUrl)}: a link for a new password`,
    text: lines(
      isNew
        ? `You are invited to ${publicUrl}. Your name there is ${name}. Choose a password with this link:`
        : `An owner of ${publicUrl} made a link with which ${name} chooses a new password:`,
      url,
      `It works once, until ${minuteOf(until)}. Give it to nobody.`,
    ),
  }),
  test: ({ publicUrl }: { publicUrl: string }): MailText => ({
    subject: `${hostOf(publicUrl)}: a test`,
    text: lines(`This is a test from ${publicUrl}. Mail from there reaches you.`),
  }),
}

const de: typeof en = {
  alert({ publicUrl, name, finding, since }) {
    const { detail, remedy } = say(findingsDe, finding)
    return {
      subject: `${hostOf(publicUrl)}: ${healthDe.names[name]}`,
      text: lines(
        detail,
        remedy,
        since === null ? 'Als diese E-Mail verschickt wurde, war es vorbei.' : `Seit ${minuteOf(since)}.`,
        `Alle Prüfungen: ${publicUrl}/dashboard/settings/health`,
        `Sie erhalten dies als Eigentümer von ${publicUrl}, höchstens einmal am Tag je Ursache. Ihre E-Mail-Adresse ändern oder entfernen Sie hier: ${publicUrl}/dashboard/settings/you`,
      ),
    }
  },
  confirm: ({ publicUrl, url, until }) => ({
    subject: `${hostOf(publicUrl)}: Bestätigen Sie diese E-Mail-Adresse`,
    text: lines(
      `Jemand hat diese Adresse bei ${publicUrl} eingetragen, um E-Mails zu erhalten, wenn dort ein Eigentümer gebraucht wird. Wenn Sie das waren, öffnen Sie diesen Link:`,
      url,
      `Er gilt einmal, bis ${minuteOf(until)}. Wenn Sie es nicht waren, tun Sie nichts: Es kommen keine weiteren E-Mails.`,
    ),
  }),
  link: ({ publicUrl, url, until, name, isNew }) => ({
    subject: isNew ? `${hostOf(publicUrl)}: Einladung` : `${hostOf(publicUrl)}: Link für ein neues Passwort`,
    text: lines(
      isNew
        ? `Sie sind zu ${publicUrl} eingeladen. Ihr Name dort ist ${name}. Wählen Sie mit diesem Link ein Passwort:`
        : `Ein Eigentümer von ${publicUrl} hat einen Link erstellt, mit dem ${name} ein neues Passwort wählt:`,
      url,
      `Er gilt einmal, bis ${minuteOf(until)}. Geben Sie ihn niemandem.`,
    ),
  }),
  test: ({ publicUrl }) => ({
    subject: `${hostOf(publicUrl)}: Test`,
    text: lines(`Dies ist ein Test von ${publicUrl}. E-Mails von dort erreichen Sie.`),
  }),
}

export const mailWords = { en, de }
