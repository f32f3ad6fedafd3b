import { z } from 'zod';
import { type FieldFacts, objectKinds, plainKinds } from './field.js';
import document from './records.json' with { type: 'json' };

type RecordName = keyof typeof document;

/** Members of an object by name. The members of the record that `$with` names come first. */
type Members = Readonly<Record<string, Member | RecordName>>;

/**
 * A field: its kind, what it is, and its facts or its members. A record that is described elsewhere is given by its
 * name.
 */
type Member =
  | readonly [kind: keyof typeof plainKinds, description: string, facts?: FieldFacts]
  | readonly [kind: keyof typeof objectKinds, description: string, members: Members | RecordName];

// The compiler reads each member in the document as a list of texts and objects.
const records = document as unknown as Readonly<Record<RecordName, Members>>;

function fieldsOf(members: Members): [string, z.ZodType][] {
  return Object.entries(members).flatMap(([name, member]) =>
    typeof member === 'string' ? fieldsOf(records[member]) : [[name, fieldOf(member)]],
  );
}

const isPlain = (
  member: Member,
): member is Extract<Member, readonly [keyof typeof plainKinds, ...unknown[]]> => member[0] in plainKinds;

function fieldOf(member: Member): z.ZodType {
  if (isPlain(member)) return plainKinds[member[0]](member[1], member[2]);
  const [kind, description, inner] = member;
  return objectKinds[kind](description, objectOf(inner));
}

const objectOf = (inner: Members | RecordName): z.ZodObject =>
  z.looseObject(Object.fromEntries(fieldsOf(typeof inner === 'string' ? records[inner] : inner)));

const names = Object.keys(document) as RecordName[];

/** The schemas of the records, as `records.json` describes them (service.md#vehicles). */
export const schemas = Object.fromEntries(names.map((name) => [name, objectOf(name)])) as Readonly<
  Record<RecordName, z.ZodObject>
>;
