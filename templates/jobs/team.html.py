BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXX XXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXXXXXXXX
        XXXXXXXX XXXXXXXXXXXX pgettext(u'button', u'More') XXXXXXXXXX
        XXXX XXXXXXXXXXXX XXXXX
          XX XXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Jobs') XXXX
          BB BBBBBBBBBBBB
            XX XXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Usage') XXXX
          BBBBB
          BB BBBBBBBBBB
            XX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Notification channels') XXXX
          BBBBB
          BB BBBBBBBBBB
            XXXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'menu', u'Rename') XXXXXXXXX
          BBBBB
        XXXXXX
      XXXXXXXXXX
      BB BBBBBBBBB
        XXXXXXXXX XXXXXXXXXXXXXXXXXXX
                  XXXXXXX pgettext(u'field', u'Add people') X XX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBBBBBBB
      BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
        BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBB
        BBBBBBB
      BBBBBBB
    BBBBB
    XXXX XXXXXXXXXXXX XXXXXX
      XXXX XXXXXXXXXXXXXX
         pgettext(u'heading', u'People') 
        XXXXXXXX XXXXXXXXXXXXXX XXXXXXXFFFFFFX XXXXXXXXX XXXXXXXXXXXX
          BB BBBBBBB
            XXXX XXXXXXXXXXXXXXXXXXX
              XXXXXX XXXXXXXXXXX XXXXXXX
                XXXXXXX
                  BBB B BB BBBBBBB
                    BBB BBBBBBBBBBBBB BBBBBBBB BBBBBBBBBBBBB BBBBBBB BB BBBB
                    XXXX
                      XXX XXXXXXXXXXXXX
                        XXXX XXXXXXXXXXXXXXXXX
                          XX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXX
                          XXXXX XXXXXXXXXXXX XXXXX XXXXXXXXXXXXXXXX
                          BB BBBBBBBBBBBB
                            XXXXX XXXXXXXXXXXXX pgettext(u'state', u'Service account') XXXXXXX
                          BBBBB
                          BB BBBBBBBBBBBBBB
                            XXXXX XXXXXXXXXXX XXXXXX pgettext(u'state', u'Suspended') XXXXXXX
                          BBBBB
                        XXXXXX
                      XXXXX
                      XXX XXXXXXXXXXXX
                        XXXX XXXXXXXXXX XXXXX XXXXX
                          BB BBBBBBBBB BBB BBBBBB BB BBBBBBB
                            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBB
                          BBBB
                            XXXXX XXXXXXXXXXXXXXFFFFFFFFFFXXXXXXX
                          BBBBB
                          BB BBBBBBBBB
                            XXXXXXXX XXXXXXXXXXXXX
                              XXXXXXXX XXXXXXXXXX XXXXX XXXXXX
                                       XXXXXXXXXXXX pgettext(u'spoken label', u'More for %(n)s') SSSS SSS SSSSSXXXXXXXXXXXXX
                              XXXX XXXXXXXXXXXX XXXXX
                                XXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXX
                                  BBBBBBBBBB
                                  XXXXXXX XXXXXXXXXXXXXX
                                          XXXXXXXXXXXXX
                                          XXXXXXXXX
                                          XXXXXXXXXXXXXX gettext(u'Remove %(n)s from %(t)s? Their tokens for the team are revoked. Their jobs stay.') 
                                            SSSSSS SSSSS SSSS SSSSSS SSSSS SSSSSS SSS SSS SSSS SSS SSSSSSSS SSSSS SSSS SSSSS
                                          XX pgettext(u'menu', u'Remove from the team') XXXXXXXXX
                                XXXXXXX
                              XXXXXX
                            XXXXXXXXXX
                          BBBBB
                        XXXXXX
                      XXXXX
                    XXXXX
                  BBBBBB
                XXXXXXXX
              XXXXXXXX
            XXXXXX
          BBBB
            XX XXXXXXXXXXX XXXXX XXXXXXX gettext(u'No people yet. Add some so that they can run jobs here.') XXXX
          BBBBB
        XXXXXXXXXX
        BB BBBBBBBBBBBB
           pgettext(u'heading', u'Active jobs') 
           pgettext(u'name of a value', u'View all') 
           gettext(u'Nothing is running or queued.') 
          XXXXXXXX XXXXXXXXXXXXXX
                   XXXXXXXXXXXXXXXXXXX
                   XXXXXXXXXXXX
                   XXXXXXXXXX
            BBBBBBB BBBBBBBBBBBBBBBBBBBBB
          XXXXXXXXXX
        BBBBB
        BB BBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBB
        BBBBB
        BB BBBBBB BB BBB BBBB
          BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB
          BBBBBBB
        BBBBB
      XXXXXX
      XXXX XXXXXXXXXXXXXX
        BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBBBBBB
          BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
        BBBBBBB
         pgettext(u'heading', u'Pools') 
        XXXXXXXX XXXXXXXXXXXXXX XXXXXXXFFFFFFXX
          BBB BBBB BB BBBBB
            XXXX XXXXXXXXXXXXXX XXXXX
              XX XXXXXXXXXXXXXXXXXXXX
              XXXXX XXXXXXXXXXXX XXXXXXXXXXXXXX
            XXXXXX
          BBBBB
            XX XXXXXXXXXXXX XXXXXXX gettext(u'No pools. Jobs run on any cluster without pools.') XXXX
          BBBBBB
        XXXXXXXXXX
        BB BBBBBBB
           pgettext(u'heading', u'Secrets') 
           pgettext(u'name of a value', u'Manage') 
          XXXXXXXX XXXXXXXXXXXXXX
                   XXXXXXXFFFFFFX
                   XXXXXXXXXXXXXXXX
                   XXXXXXXXXXXXX
            BBB BBBBBB BB BBBBBBB
              XXXX XXXXXXXXXXXXXX XXXXX
                XXXXX XXXXXXXXXXX XXXXX XXXXXXXXXXXXX
                XXXXX XXXXXXXXXXXX XXXXX XXXXXXXXFFFXXXXXXX
              XXXXXX
            BBBBBB
          XXXXXXXXXX
        BBBBB
         pgettext(u'heading', u'Job rules') 
        XXXXXXXX XXXXXXXXXXXXXX XXXXXXXXXXX
          BB BBBBBBBB
            XXXXXXX XXXXXXXXXXXXXXX
              XXXXXXX XXXXXXXXXX XXXXXX XXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                 pgettext(u'button', u'Edit') 
              XXXXXXXXX
            XXXXXXXXX
          BBBBB
          BB BBBBBBBBBBBBBBBBBB
            XXX XXXXXXXXXXXXXX
              BBB BBBBB BBBBB BB BBBBBBBBBB
                XXXXFFFFFFFFFFXXXXX
                XXXX
                  
                XXXXX
              BBBBBB
            XXXXX
          BBBB
            XX XXXXXXXXXXXX XXXXXXX gettext(u'No rules: any job is accepted.') XXXX
          BBBBB
        XXXXXXXXXX
      XXXXXX
    XXXXXX
  XXXXXX
  BB BBBBBBBB
     pgettext(u'heading', u'Job rules of %(t)s') 
      SSS SSSSS SS SSSSS
    
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXX
                   XXXXXXXXXXXXXX
                   XXXXXXXX pgettext(u'button', u'Save') X
                   XXXXXXXXXXXXXXXXXXXXXXXX
      XX XXXXXXXXXXXX XXXXXXX
         gettext(u'A job that breaks a rule is refused with the reason. An empty field is no rule.') 
      XXXX
      XXXX XXXXXXXXXXXXXXX
        XXXXXXXX XXXXXXX gettext(u'Maximum run time') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX gettext(u'Default run time') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX gettext(u'Maximum GPUs per job') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXX
                 XXXXXXXXXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Allowed images') X
                 XXXXXX gettext(u'* matches anything; none allows jobs without an image.') XX
          XXXXXX XXXXXXXXXXX
                 XXXXXXXXXXXXX
                 XXXXXXXX
                 XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX XXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Allowed pools') XX
          XXXXXX XXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Default pool') XX
          XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXXXX XXXXXXXXX
        XXXXXXXXXX
      XXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
  BB BBBBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Rename the team') X
                   XXXXXXXX pgettext(u'button', u'Rename') XX
      XXXXXX XXXXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Name') X
               XXXXXX gettext(u'The short name in addresses stays.') XX
        XXXXXX XXXXXXXXXXX
               XXXXXXXXXXX
               XXXXXXXXXXXXXXX
               XXXXXXXX
               XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
  BB BBBBBBBBB
     pgettext(u'heading', u'Add people to %(t)s') 
      SSS SSSSSS SS SSSSS
    
    XXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXX
      XXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXX
        BBBBBBBBBB
        XXXXXXXX XXXXXXX pgettext(u'field', u'Email') X
                 XXXXXX gettext(u'A member of the organization or a service account.') XX
          XXXXXX XXXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXX
        XXXXXXXXXX
        XXXXXXXXX XXXXXXXXXXXXXXXX
          BBB B BB BBBBBBBBBB
            XXXXXXX XXXXXXXXXXXXXXXXXX
          BBBBBB
        XXXXXXXXXXX
        XXXXXXXX XXXXXXX pgettext(u'field', u'Role') XX
          XXXXXXX XXXXXXXXXXXX
            BBB B BB BBBBB
              XXXXXXX XXXXXXXX
                      BB BBBBBB BB BBBBBBBBXXXXXXXXBBBBBXFFFFFFFFFFXXXXXXXXX
            BBBBBB
          XXXXXXXXX
        XXXXXXXXXX
        XXXX XXXXXXXXXX XXXXX
          BB BBBBBBBBBB
            XXXXXXX XXXXXXXXXX XXXXXX
                    XXXXXXXXXXXXX
                    XXXXXXXXXXXXXXXXXXXXXXXXXXX gettext(u'Invite someone new') XXXXXXXXX
          BBBBB
          XXXXXXX XXXXXXXXXXX
                  XXXXXXXXXXXXX
                  XXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Cancel') XXXXXXXXX
          XXXXXXX XXXXXXXXXX XXXXXXXXX pgettext(u'button', u'Add') XXXXXXXXX
        XXXXXX
      XXXXXXX
    XXXXXXXXXXX
  BBBBB
  BB BBBBBBBBBB
    BBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBBBBBBBBBBBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBBBBBBB
    BBBBBBB
  BBBBB
  FFFFFFFFFFFFFFFFFFFFFFFFFFFF
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
