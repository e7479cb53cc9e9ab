BBBBBBB BBBBBBBBBBB
BBBB BBBBBB BBBB BBBBBB
 #
 #
 #

BBBBB BBBBBXXXXXXBBBBBBBB
BBBBB BBBB
  XXXXX XXXXXXXXXXXXXXXX XXXXXXBBBBBB BBBBBBBBBBBBBBBBBBBBBBXX
BBBBBBBB
BBBBB BBBBBBB
   gettext(u'How much teams and people can use at once, and how many GPU-hours in a month. Lowering a limit never stops a running job.') 
    SSS SSSS SSSSS SSS SSSSSS SSS SSS SS SSSSS SSS SSS SSSS SSSSSSSSS SS S SSSSSS SSSSSSSS S SSSSS
    SSSSS SSSSS S SSSSSSS SSSS
  
  XXXXXXX XXXXXXX pgettext(u'page title', u'Quotas') X XXXXXXXXXXX
    XXXXXXX XXXXXXXXXXXXXXX
      XX XXXXXXXXXXX XXXXXXXXXXXXXXXXX pgettext(u'button', u'Storage') XXXX
      BB BBBBBBBBBBBBBB
        XXXXXXX XXXXXXXXXXBB BBB BBBBBBBBB XXXXXXXBBBBBX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX pgettext(u'button', u'Request more') XXXXXXXXX
      BBBBB
      BB BBBBBBBBB
        XXXXXXX XXXXXXXXXXX
                XXXXXXXXXXXXX
                XXXXXXXXXXXXXXXXXXXXXXXXXXXXXXX
                XXXXXXXXXXXXXXXX
                XXXXXXX gettext(u'Select teams or people in the table first.') XX pgettext(u'button', u'Edit limits') XXXXXXXXX
      BBBBB
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    BB BBBBBBB
      BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
    BBBBB
    BB BBBBBBBBB
      XXXXXXXX XXXXXXXXX
               XXXXXXX pgettext(u'heading', u'Requests') X
               XXXXXXXFFFFFFX
               XXXXXXXXXX
        XXX XXXXXXXXXXXXX
          BBB BBBB BB BBBBBBBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBBBBBB BBB BBB BBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'empty list', u'No limits') XX
         gettext(u'You can use everything that is free. Limits appear here when an admin sets them.') 
      XXXXXXXXXX
    BBBB
      BB BBBBBBBBBBBBB
        XXXXXXXX
           gettext(u'No limits yet: everyone can use everything that is free. Click “No limit” to set one.') 
        XXXXXXXXX
      BBBBB
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Name') XXXXX
              BBB BBBBB BBBB BB BBBBB
                XXXXFFFFFFFFFFXXXXX
              BBBBBB
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBB BBBBBBB
            BB BBBBBBBB
              BBBBBBB BBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBBBB BBBBBBB
            BBBBB
            BBB B BB BBBBBBBBBB
              BBBBBBB BBBBBBBBBBBBBBBBBBBBBB BBBB BBB BBBBBBB
              BB BBBBBBBBB
                BBB B BB BBBBBBBB
                  BBBBBBB BBBBBBBBBBBBBBBBBBBBBB BBBB BBB BBBBBBB
                BBBBB
                  XXXX
                    XXX XXXXXXXXXXXXXX XXXXX XXXXXX XXXXXXXXXFFFFFFFFFFFXX
                      BB BBBBBBBBB
                         pgettext(u'value', u'No people') 
                      BBBB
                         gettext(u'Only admins see the limits of other people.') 
                      BBBBB
                    XXXXX
                  XXXXX
                BBBBBB
                BB BBBBBBBB BB BBBBBBB
                  XXXX
                    XXX XXXXXXXXXXXXXXX XXXXXXXXXFFFFFFFFFFFXX
                      XXXXX XXXXXXXXXX XXXXXXX
                        XXXXXX XXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXX
                        XXXXXX XXXXXXXXXXXXX
                               XXXXXXXX
                               XXXXXXXX
                               XXXXXXXXXXXXX pgettext(u'placeholder', u'Find a person') X
                               XXXXXXXXXXXX pgettext(u'spoken label', u'Find a person') XX
                        XXXXXXX XXXXXXXXXX XXXXXXX pgettext(u'button', u'Search') XXXXXXXXX
                      XXXXXXX
                    XXXXX
                  XXXXX
                BBBBB
              BBBBB
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
      XX XXXXXXXXXXXXX XXXXX XXXXXXX
        XXXXX XXXXXXXXXXXXXXXX XXXXXX pgettext(u'text, jobs', u'In use') XXXXXXX
        XXXXX XXXXXXXXXXXXXXXX XXXXXXXXXX gettext(u'Reserved for jobs about to start') XXXXXXX
        XXXXX XXXXXXXXXXXXXXXX XXXXXX gettext(u'Kept free for guarantees') XXXXXXX
        XXXXX XXXXXXXXXXXXXXXX XXXXXXXXXXX pgettext(u'text, jobs', u'Guaranteed') XXXXXXX
        BB BBBBBBBBB
          XX XXXXXXBBBBB BBBBBBBBBBBBBBBXX gettext(u'Show limited resources only') XXXX
        BBBB BBB BBBBBBBBBBBBB BBB BBBBBBBBB BB BBBBBBBBB
          XX XXXXXXBBBBB BBBBBBBBBBBBBBB BBBBBXX gettext(u'Show resources without limits') XXXX
        BBBBB
      XXXX
    BBBBB
    BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
    BB BBBBBBB
      XXXXXXXX XXXXXXXXXXXXXX
        XXXXXXXXX
           pgettext(u'heading', u'Past requests')  XXXXX XXXXXXXXXXXXXXFFFFFFXXXXXXX
        XXXXXXXXXX
        XXX XXXXXXXXXXXXX
          BBB BBBB BB BBBBBBB
            BBBBBBB BBBBBBBBBBBBBBBBBBBBBB
          BBBBBB
        XXXXX
      XXXXXXXXXX
    BBBBB
    BB BBBBBBBBB
      XXXXXXXX XXXXXXX pgettext(u'heading', u'History') X XXXXXXXXXX
        BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBB
      XXXXXXXXXX
    BBBBB
  XXXXXX
  BBBBBBB BBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBBB
  BB BBBBBBBBB
    XXXXXXXXXXXXXX XXXXXXXXXXXXXXXX
                   XXXXXXX pgettext(u'heading', u'Edit limits') X
                   XXXXXXXX pgettext(u'button', u'Preview') X
                   XXXXXXXXXXXXX
      XX XXXXXXXXXXXX gettext(u'For everything selected in the table.') XXXX
      XX XXXXXXXXXXXX XXXXXXX gettext(u"A number, or a size such as 64Gi. Empty is no limit. What you don't change stays.") XXXX
      XXXX XXXXXXXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXX XXXXXXXXXXXX
          XXXXXXX
            XXXX
              XXXX pgettext(u'column', u'Resource') XXXXX
              XXXX pgettext(u'column', u'Limit') XXXXX
              XXXX pgettext(u'column', u'Guaranteed') XXXXX
            XXXXX
          XXXXXXXX
          XXXXXXX
            BBB BBBBB BBBB BB BBBBBBBBB
              BBBBBBB BBBBBBBBBBBBBBBBBBBBBBB BBBB BBBBBBBB BBBBBBBBBBBBB
            BBBBBB
          XXXXXXXX
        XXXXXXXX
      XXXXXX
      XXXXXXXXX
        XXXXXXXX XXXXXXXXXXXXXX pgettext(u'heading', u'Other resource') XXXXXXXXXX
        XXXX XXXXXXXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Resource') X
                   XXXXXX gettext(u'GPUs of one model, such as gpu.a100.') XX
            XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Limit') XX
            XXXXXX XXXXXXXXXXX XXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
          XXXXXXXXXX
          XXXXXXXX XXXXXXX pgettext(u'field', u'Guaranteed') XX
            XXXXXX XXXXXXXXXXX XXXXXXXXXXXXXXXXX XXXXXXXXXXXXXXXXXXX
          XXXXXXXXXX
        XXXXXX
      XXXXXXXXXX
    XXXXXXXXXXXXXXXX
  BBBBB
BBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXXXXXXXX XXXXXBBBBBB BBBBBBBBBBBBBBXXXXXXXXXXX
BBBBBBBB
