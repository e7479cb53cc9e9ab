BBBB BBBB
 #

 pgettext(u'heading', u'Manage') 
XXXXXXXX XXXXXXXXXXXXXXX
  BB BBB BBBBBBBBBBBBBBB
    XXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXX XXXXXXXXXX
      BBBBBBBBBB
      BB BBBBBBBBBBBBBBBBBBB
        XX XXXXXXXXXXXX XXXXXXX
           gettext(u"Suspended people keep their role and jobs, and can't use this organization.") 
            SSSSSSSSS SSSSSS SSSS SSSSS SSSS SSS SSSSS SSS SSSSS SSS SSSS SSSSSSSSSSSSS
          
        XXXX
        XXXXXXX XXXXXXXXXXX XXXXXXXXX XXXXXXXXXXXXXXXX pgettext(u'button', u'Restore access') XXXXXXXXX
      BBBB
        XX XXXXXXXXXXXX XXXXXXX
           gettext(u"Suspending keeps their role and jobs, but they can't use this organization until you restore them.") 
            SSSSSSSSSS SSSSS SSSSS SSSS SSS SSSSS SSS SSSS SSSSS SSS SSSS SSSSSSSSSSSS SSSSS SSS SSSSSSS SSSSS
          
        XXXX
        XXXXXXX XXXXXXXXXXX
                XXXXXXXXX
                XXXXXXXXXXXXXXX
                XXXXXXXXXXXXXX gettext(u'Suspend %(n)s? Their tokens here stop working at once. Running jobs continue.') 
                  SSSSSSS SSSSSS SSSSS SSSSSS SSSS SSSS SSSSSSS SS SSSSS SSSSSSS SSSS SSSSSSSSS
                XX pgettext(u'button', u'Suspend') XXXXXXXXX
      BBBBB
    XXXXXXX
  BBBBB
  XXXXX XXXXXXXXXXXXXX XXXXXXXXXXXXXX
    BBBBBBBBBB
    XX XXXXXXXXXXXX XXXXXXX gettext(u'Removing takes them out of the organization and all its teams. Their jobs stay.') XXXX
    XXXXXXX XXXXXXXXXX XXXXXXX
            XXXXXXXXXXXXX
            XXXXXXXXX
            XXXXXXXXXXXXXX gettext(u'Remove %(n)s from %(o)s? They leave all teams and their tokens are revoked. Their jobs stay.') 
              SSSSSS SSSSS SSSS SSSSSS SSSS SSSSS SSS SSSSS SSS SSSSS SSSSSS SSS SSSSSSSS SSSSS SSSS SSSSS
            XX pgettext(u'button', u'Remove') XXXXXXXXX
  XXXXXXX
XXXXXXXXXX
