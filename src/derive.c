// SPDX-License-Identifier: Apache-2.0
// Where the layers meet: model -> mech -> system. What results say of the model that they came
// from, joints whose torque becomes an input, and what the model's case says about running.
#include "mech/derive.h"

#include "base/clock.h"
#include "base/options.h"
#include "base/sha256.h"
#include "mech/tree.h"

#include <stdio.h>

static const char *keep(tr_system *system, Text text)
{
    const char *kept = tr_arena_text(&system->graph->arena, text.at ? text.at : "", text.length);
    if (!kept) system->graph->failed = true;
    return kept;
}

// The text alone, or with the hash of the files that it names behind it
static void hash_source(struct Source *source, Text text)
{
    Sha256 sha;
    char files[TR_SHA256_SIZE];
    tr_sha256_begin(&sha);
    tr_sha256_add(&sha, text.at, text.length);
    tr_sha256_end(&source->content, files);
    if (source->file_count) tr_sha256_add(&sha, files, strlen(files));
    tr_sha256_end(&sha, source->sha256);
}

// Files with keys of a case, and what stood in them
static void note_with(tr_system *system, const Model *variant)
{
    struct Source *source = &system->source;
    const size_t count = variant->with_count;
    const char **names = tr_arena_alloc(&system->graph->arena, 2 * count + 1, sizeof *names);
    if (!names) system->graph->failed = true;
    for (size_t i = 0; names && i < count; i++) {
        names[i] = keep(system, text_of(variant->with[i]));
        names[count + i] = keep(system, text_of(variant->with_texts[i]));
    }
    source->with = names, source->with_texts = names ? names + count : NULL;
    source->with_count = names ? (uint32_t)count : 0;
}

// What the results of a system need to name the model they came from.
static void note_source(tr_system *system, const Model *variant, const tr_derive_options *o)
{
    struct Source *source = &system->source;
    const Cases *cases = &variant->fields.cases;
    source->file = keep(system, text_of(variant->path ? variant->path : ""));
    if (variant->text.at) {
        source->text = keep(system, variant->text);
        hash_source(source, variant->text);
    }
    source->case_name = keep(system, cases->count ? cases->at[0].name.text : text_of(""));
    note_with(system, variant);
    if (variant->told_included) source->included = keep(system, text_of(variant->told_included));
    tr_setting *settings =
        tr_arena_alloc(&system->graph->arena, o->setting_count + 1, sizeof *settings);
    if (!settings) system->graph->failed = true;
    for (size_t i = 0; settings && i < o->setting_count; i++)
        settings[i] = (tr_setting){keep(system, text_of(o->settings[i].name)),
                                   keep(system, text_of(o->settings[i].formula))};
    source->settings = settings;
    source->setting_count = (uint32_t)o->setting_count;
}

static bool is_one_formula(const Pairs *pairs)
{
    return pairs->count == 1 && !pairs->at[0].key.text.length;
}

// Torques and their limits as they are written, for those who write other torques.
static void note_torques(tr_system *system, const Model *variant)
{
    struct Source *source = &system->source;
    const Roles *roles = &variant->fields.roles;
    Arena *arena = &system->graph->arena;
    tr_setting *torques = tr_arena_alloc(arena, roles->count + 1u, sizeof *torques);
    const char **limits = tr_arena_alloc(arena, roles->count + 1u, sizeof *limits);
    if (!torques || !limits) system->graph->failed = true;
    for (uint32_t i = 0; torques && limits && i < roles->count; i++) {
        const Role *role = &roles->at[i];
        if (!is_one_formula(&role->torque)) continue;
        limits[source->torque_count] =
            is_one_formula(&role->limit) ? keep(system, role->limit.at[0].value.text) : NULL;
        torques[source->torque_count++] = (tr_setting){keep(system, role->name.text),
                                                       keep(system, role->torque.at[0].value.text)};
    }
    source->torques = torques, source->limits = limits;
}

// ---- controls ------------------------------------------------------------------------------

static const Joint *joint_called(const Model *model, Text name, tr_error *err)
{
    const ModelFields *f = &model->fields;
    Suggestion nearest = {.wanted = name};
    char hint[TR_HINT_SIZE];
    for (uint32_t i = 0; i < f->bodies.count; i++) {
        tr_suggest(&nearest, tr_own_joint_name(&f->bodies.at[i]));
        if (text_equal(tr_own_joint_name(&f->bodies.at[i]), name)) return &f->bodies.at[i].joint;
    }
    for (uint32_t i = 0; i < f->joints.count; i++) {
        tr_suggest(&nearest, tr_joint_name(&f->joints.at[i]));
        if (text_equal(tr_joint_name(&f->joints.at[i]), name)) return &f->joints.at[i];
    }
    tr_settings_offer(&f->inputs, &nearest);
    tr_fail(err, TR_USAGE, (Place){0}, "there is no input or joint '%.*s'%s", TEXT(name),
            tr_model_hint(model, &nearest, hint));
    return NULL;
}

static bool can_be_controlled(const Joint *joint, const Role *role, Text name, tr_error *err)
{
    const JointType *type = tr_joint_type(joint->type, NULL);
    if (type && type->positions[0])
        tr_fail(
            err, TR_USAGE, (Place){0},
            "'%.*s' is not a joint with one coordinate: a control is an input, or the torque of "
            "such a joint",
            TEXT(name));
    else if (role && (role->motion.count || role->rate.count))
        tr_fail(err, TR_USAGE, (Place){0},
                "'%.*s' is driven by a motion: its torque cannot be a control", TEXT(name));
    return !has_failed(err);
}

static Value prefixed(Model *model, const char *prefix, Text name)
{
    char text[300];
    const int length = snprintf(text, sizeof text, "%s%.*s", prefix,
                                (int)(name.length > 200 ? 200 : name.length), name.at);
    const char *kept = tr_arena_text(&model->arena, text, (size_t)length);
    return (Value){.text = {kept, (size_t)length}, .given = kept != NULL};
}

static bool add_input(Model *model, Value name, tr_error *err)
{
    Settings *inputs = &model->fields.inputs;
    if (tr_setting_find(inputs, name.text)) {
        tr_fail(err, TR_INVALID, name.place, "'%.*s' stands here twice", TEXT(name.text));
        return false;
    }
    Setting *setting = tr_kind_add(model, tr_kind_of(TYPE_INPUTS), inputs, name, err);
    if (setting) setting->value = (Value){.text = text_of("0"), .given = true};
    return setting != NULL;
}

// The joint's torque becomes an input.
static bool control(Model *model, const char *called, tr_error *err)
{
    ModelFields *f = &model->fields;
    const Text name = text_of(called);
    if (tr_setting_find(&f->inputs, name)) return true;
    const Joint *joint = joint_called(model, name, err);
    const Kind *kind = tr_kind_of(TYPE_ROLES), *top = tr_kind_model();
    if (!joint || !can_be_controlled(joint, tr_kind_find(kind, &f->roles, name), name, err))
        return false;
    Role *role = tr_kind_add(model, kind, &f->roles, (Value){.text = name, .given = true}, err);
    const Value input = prefixed(model, "torque.", name), law = prefixed(model, "law.", name);
    if (!role || !input.text.at || !law.text.at) return tr_fail_memory(err), false;
    const bool had_law = role->torque.count == 1;
    return (!had_law || tr_field_put(model, tr_kind_field(top, text_of("outputs")), &f->outputs,
                                     law, role->torque.at[0].value, false, err)) &&
           add_input(model, input, err) &&
           tr_field_put(model, tr_kind_field(kind, text_of("torque")), &role->torque, (Value){0},
                        input, true, err);
}

// Outputs of the caller's; in no file: they are lines below 0, behind those of settings
static bool add_outputs(Model *model, const tr_derive_options *o, tr_error *err)
{
    const Field *field = tr_kind_field(tr_kind_model(), text_of("outputs"));
    for (size_t i = 0; i < o->output_count; i++) {
        const Place place = place_at(-(int)(o->setting_count + i) - 1, 1);
        const Value name = {text_of(o->outputs[i].name), place, true},
                    formula = {text_of(o->outputs[i].formula), place, true};
        if (!tr_field_put(model, field, &model->fields.outputs, name, formula, false, err))
            return false;
    }
    return true;
}

static void set_port(tr_system *system, Port *port, const char *joint, const char *component)
{
    const uint32_t at = tr_system_part(system, TR_VELOCITY, joint, "");
    const Quantity velocity = at == NO_INPUT ? QUANTITY_UNKNOWN : system->inputs[at].port.quantity;
    *port = port_of(tr_motor_quantity(velocity), keep(system, text_of(joint)), component);
}

// What was made of a control: the input, and the law that it replaces
static void note_control(tr_system *system, const char *joint)
{
    char name[300];
    snprintf(name, sizeof name, "torque.%.200s", joint);
    const Named *torque = tr_system_find(system, text_of(name));
    Input *input = torque ? tr_system_input(system, torque->meaning) : NULL;
    if (input) set_port(system, &input->port, joint, "torque");
    snprintf(name, sizeof name, "outputs.law.%.200s", joint);
    const Output *law = tr_system_output(system, text_of(name));
    if (input && law) set_port(system, &system->outputs[law - system->outputs].port, joint, "law");
}

// ---- running -------------------------------------------------------------------------------

void tr_simulate_fill(tr_simulate_options *options, size_t size, const tr_system *system)
{
    const tr_simulate_options plan = system && system->plan.method ? system->plan : tr_mech_plan();
    tr_give_options(options, size, &plan, sizeof plan);
}

// ---- all of it -----------------------------------------------------------------------------

const char *tr_system_file(const tr_system *system, size_t index)
{
    if (!system) return NULL;
    const struct Source *source = &system->source;
    const size_t own = source->file && source->file[0] ? 1 : 0;
    if (index < own) return source->file;
    index -= own;
    if (index < source->with_count) return source->with[index];
    index -= source->with_count;
    return index < source->file_count ? source->files[index] : NULL;
}

void tr_derive_fill(tr_derive_options *options, size_t size)
{
    const tr_derive_options plain = {.digits = 5};
    tr_give_options(options, size, &plain, sizeof plain);
}

tr_system *tr_derive(const tr_model *model, const tr_derive_options *options, tr_error *err)
{
    tr_error local = {0};
    if (!err) err = &local;
    tr_derive_options o = tr_derive_defaults();
    if (!model || !tr_take_options(&o, sizeof o, options, "tr_derive_defaults", err)) return NULL;
    const double started = seconds_now();
    Model *variant = tr_model_variant(model, &o, err);
    tr_system *system = tr_system_new(err);
    if (system) system->digits = o.digits < 17 ? (int)o.digits : 0;
    if (system) tr_evaluation_called(o.evaluate, &system->evaluation, err);
    if (o.order > 2) tr_fail(err, TR_USAGE, (Place){0}, "the order is 1 or 2");
    if (variant) variant->order = (int)o.order, variant->inertias = o.inertias;
    if (variant) variant->names_gravity = o.name_gravity;
    if (variant) variant->allowed = o.allowed, variant->allowed_count = o.allowed_count;
    if (variant && system) note_torques(system, variant);
    for (size_t i = 0; variant && i < o.control_count; i++)
        if (!control(variant, o.controls[i], err)) break;
    if (variant) add_outputs(variant, &o, err);
    if (variant && system) tr_mech_derive(variant, system, err);
    for (size_t i = 0; variant && system && !has_failed(err) && i < o.control_count; i++)
        note_control(system, o.controls[i]);
    if (variant && system && !has_failed(err)) note_source(system, variant, &o);
    if (variant && system) { // places in the system point there
        system->source.origins = variant->origins;
        variant->origins = (Arena){0};
    }
    if (system && system->graph->failed) tr_graph_refuse(system->graph, err);
    tr_model_free(variant);
    if (system) system->seconds = seconds_now() - started;
    if (!has_failed(err)) return system;
    tr_system_free(system);
    return NULL;
}
