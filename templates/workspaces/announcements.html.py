BBBBBBB BBBBBBBBBBB
BBBB BBBB BBBBBB
 #

BBBBB BBBBBXXXXXXBBBBBBBB
BBBBB BBBBBBB
  XXXXXXX XXXXXXX pgettext(u'page title', u'Announcements') X
          XXXXX gettext(u'Shown at the top of every page until it ends or is dismissed.') XX
    XXXXXXX XXXXXXXXXXXXXXX
      XXXXXXXXX XXXXXXXXXXXXXXXXX
                XXXXXXX pgettext(u'field', u'New announcement') X XX
    XXXXXXXXX
  XXXXXXXXX
  XXXX XXXXXXXXXXXXXX
    XXXXXXXX XXXXXXXXXXXXX
       pgettext(u'heading', u'No announcements') 
      XXXXXXXX XXXXXXXXXXXXXXX
         gettext(u'Tell everyone about maintenance, an incident or whom to ask about quotas.') 
        XXXXXXX XXXXXXXXXXXXXXX
          XXXXXXXXX XXXXXXXXXXXXXXXXX
                    XXXXXXX pgettext(u'field', u'New announcement') X XX
        XXXXXXXXX
      XXXXXXXXXX
    XXXXXXXXXX
  XXXXXX
   pgettext(u'heading', u'New announcement') 
  XXXXXXXXXXXXXX XXXXXXXXXXXXX
                 XXXXXXXXXXXXXX
                 XXXXXXXX pgettext(u'button', u'Publish') XX
    XXXXXXXX XXXXXXX pgettext(u'field', u'Text') XX
      XXXXXXXXX XXXXXXXXXXX
                XXXXXXXX
                XXXXXXXXXXXXXXX
                XXXXXXXX
                XXXXXXXXXXXXX gettext(u'The cluster is down for maintenance on Saturday, 9:00 to 12:00.') XXXXXXXXXXXXX
    XXXXXXXXXX
    XXXXXXXX XXXXXXX pgettext(u'field', u'Type') XX
      XXXXXXX XXXXXXXXXXXXX
        XXXXXXX XXXXXXXXXXXXX pgettext(u'announcement', u'Note') XXXXXXXXX
        XXXXXXX XXXXXXXXXXXXXXXX pgettext(u'choice, severity', u'Warning') XXXXXXXXX
        XXXXXXX XXXXXXXXXXXXXXXX pgettext(u'choice', u'Incident') XXXXXXXXX
      XXXXXXXXX
    XXXXXXXXXX
    XXXX XXXXXXXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Starts') X
               XXXXXX gettext(u'In your time zone. Empty: now.') XX
        XXXXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXX
      XXXXXXXXXX
      XXXXXXXX XXXXXXX pgettext(u'field', u'Ends') X
               XXXXXX gettext(u'In your time zone. Empty: when you withdraw it.') XX
        XXXXXX XXXXXXXXXXXXXXXXXXXXX XXXXXXXXXXXXX
      XXXXXXXXXX
    XXXXXX
    BB BBBBBBBBBBBBBBBB
      XXXXXX XXXXXXXXXXXXXX
        XXXXXX XXXXXXXXXXXXXXX XXXXXXXXXXX XXXXXXXXXX
         gettext(u'Show in every organization') 
      XXXXXXXX
    BBBBB
  XXXXXXXXXXXXXXXX
BBBBBBBB
